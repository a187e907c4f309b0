"""Panoptic quality of segments: how many are found, and how well they fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_seg.overlaps import Counts, SegmentOverlaps, Vector

MATCH_IOU = 0.5
"""Segments match above this IoU; since segments do not overlap, at most one partner can."""
VOID_SHARE = 0.5
"""An unmatched prediction with more than this share on void is no false positive."""


@dataclass(frozen=True, eq=False)
class PanopticMatches:
    """Matched pairs and what is left over, as positions in the lists of the overlaps."""

    rows: Counts
    columns: Counts
    iou: Vector
    missed: NDArray[np.intp]
    false: NDArray[np.intp]


def match_segments(
    overlaps: SegmentOverlaps, allowed: NDArray[np.bool_] | None = None
) -> PanopticMatches:
    """Match by IoU above one half, as Kirillov et al. 2019 and panopticapi do.

    Void is no part of any union, and predictions that lie mostly on it are dropped. `allowed`
    says which of the overlapping pairs may match (those of equal class, say).
    """
    iou = overlaps.iou()
    matched = iou > MATCH_IOU
    if allowed is not None:
        matched &= allowed
    rows, columns = overlaps.rows[matched], overlaps.columns[matched]
    found = np.zeros(overlaps.truth_ids.size, np.bool_)
    found[rows] = True
    used = overlaps.void_areas / overlaps.prediction_areas > VOID_SHARE
    used[columns] = True
    return PanopticMatches(
        rows, columns, iou[matched], np.flatnonzero(~found), np.flatnonzero(~used)
    )


def quality(iou: float, matched: int, missed: int, false: int) -> dict[str, float | None]:
    """PQ, SQ and RQ from the summed IoU of matched pairs and the three counts.

    PQ = Σ IoU / (TP + FP / 2 + FN / 2) = SQ · RQ. SQ is None without a match, all three without
    any segment.
    """
    total = matched + false / 2 + missed / 2
    if not total:
        return {"pq": None, "sq": None, "rq": None}
    return {
        "pq": iou / total,
        "sq": iou / matched if matched else None,
        "rq": matched / total,
    }
