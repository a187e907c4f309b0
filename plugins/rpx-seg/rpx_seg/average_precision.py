"""Average precision of scored segments, as COCO defines and pycocotools computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rpx_seg.overlaps import Vector

THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0.0, 1.0, 101)
AREAS = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
"""Ranges of area in square pixels, both ends included."""
LIMITS = (1, 10, 100)
"""Segments per image and class, best scores first, that a result may count."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Predicted and true segments of one class in one image.

    `iou` is (predicted, true); `void` the share of each prediction on void, which stands for a
    COCO crowd: what lies on it is ignored when it matches nothing.
    """

    scores: Vector
    areas: Vector
    void: Vector
    truth_areas: Vector
    iou: Vector


class Matches(NamedTuple):
    """Outcome of one class in one image, predictions by falling score.

    `order` are positions in the candidates; `matched` and `ignored` are (predictions, areas,
    thresholds), `truth_ignored` (true segments, areas).
    """

    order: NDArray[np.intp]
    matched: Flags
    ignored: Flags
    truth_ignored: Flags


class Curve(NamedTuple):
    """Precision at the 101 recalls and the highest recall, per threshold."""

    precision: Vector
    recall: Vector


def match_candidates(candidates: Candidates) -> Matches:
    """Assign predictions greedily by falling score, each to the best true segment still free.

    Of equal scores the earlier prediction, of equal IoU the later true segment comes first. One
    outside the area range is taken only when none inside is left, and then ignored.
    """
    order = np.argsort(-candidates.scores, kind="stable")[: LIMITS[-1]]
    truth_ignored = _outside(candidates.truth_areas)
    ignored = np.repeat(_outside(candidates.areas[order])[:, :, None], len(THRESHOLDS), axis=2)
    matched = np.zeros_like(ignored)
    # Void is one more true segment, ignored everywhere and never used up.
    overlap = np.column_stack([candidates.iou, candidates.void])
    never = np.vstack([truth_ignored, np.ones((1, len(AREAS)), np.bool_)])
    free = np.ones((len(AREAS), len(THRESHOLDS), len(never)), np.bool_)
    counted = ~never.T[:, None, :]
    for place, index in enumerate(order):
        possible = free & (overlap[index] >= THRESHOLDS[:, None])
        best = possible & counted
        best = np.where(best.any(axis=2, keepdims=True), best, possible)
        area, threshold = np.nonzero(best.any(axis=2))
        # argmax takes the first of equals; the last is wanted.
        value = np.where(best[area, threshold], overlap[index], -1.0)[:, ::-1]
        chosen = len(never) - 1 - value.argmax(axis=1)
        free[area, threshold, chosen] = chosen == len(never) - 1
        matched[place, area, threshold] = True
        ignored[place, area, threshold] = never[chosen, area]
    return Matches(order, matched, ignored, truth_ignored)


def trace_curve(scores: Vector, matched: Flags, ignored: Flags, truths: int) -> Curve | None:
    """The precision-recall curve of one class and area over any number of images.

    `matched` and `ignored` are (predictions, thresholds) in the order of the images, `truths` how
    many true segments count; None without any.
    """
    if not truths:
        return None
    order = np.argsort(-scores, kind="stable")
    hits = (matched & ~ignored)[order].T
    true = np.cumsum(hits, axis=1, dtype=np.float64)
    false = np.cumsum((~matched & ~ignored)[order].T, axis=1, dtype=np.float64)
    recall = true / truths
    precision = true / (true + false + np.spacing(1))
    envelope = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    sampled = np.zeros((len(hits), len(RECALLS)))
    for row, (reached, best) in enumerate(zip(recall, envelope, strict=True)):
        at = np.searchsorted(reached, RECALLS, side="left")
        inside = at < reached.size
        sampled[row, inside] = best[at[inside]]
    highest = recall[:, -1] if scores.size else np.zeros(len(hits))
    return Curve(sampled, highest)


def _outside(areas: Vector) -> Flags:
    """(segments, areas): whether a segment is smaller or larger than each range."""
    low, high = np.array(list(AREAS.values())).T
    outside: Flags = (areas[:, None] < low) | (areas[:, None] > high)
    return outside
