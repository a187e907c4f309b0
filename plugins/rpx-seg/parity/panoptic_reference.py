"""The definition of panoptic quality as panopticapi computes it, segment by segment, in plain form.

Written from the published algorithm (Kirillov et al. 2019, `pq_compute_single_core`): ids and
pairs of ids by `numpy.unique`, dictionaries, one pair at a time. 0 is void on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OFFSET = 256**3
VOID = 0

Ids = NDArray[np.uint32]
Classes = Mapping[int, str]


@dataclass
class Counts:
    """What one class adds up to."""

    iou: float = 0.0
    tp: int = 0
    fp: int = 0
    fn: int = 0


def rgb_to_id(colours: NDArray[np.uint8]) -> Ids:
    """Ids R + 256 G + 65536 B, as panopticapi unpacks its pictures."""
    wide = colours.astype(np.uint32)
    ids: Ids = wide[:, :, 0] + 256 * wide[:, :, 1] + 256 * 256 * wide[:, :, 2]
    return ids


def id_to_rgb(ids: Ids) -> NDArray[np.uint8]:
    """The colours that hold these ids."""
    return np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=2).astype(np.uint8)


def accumulate(
    totals: dict[str, Counts], truth: Ids, prediction: Ids, classes: tuple[Classes, Classes]
) -> None:
    """Add one image; `classes` name the segments of truth and prediction by id."""
    true_class, predicted_class = classes
    areas = dict(zip(*(a.tolist() for a in np.unique(prediction, return_counts=True)), strict=True))
    true_areas = dict(zip(*(a.tolist() for a in np.unique(truth, return_counts=True)), strict=True))
    together = truth.astype(np.uint64) * OFFSET + prediction.astype(np.uint64)
    pairs = {
        (int(label) // OFFSET, int(label) % OFFSET): int(count)
        for label, count in zip(*np.unique(together, return_counts=True), strict=True)
    }
    matched_true, matched_predicted = set(), set()
    for (true, predicted), shared in pairs.items():
        if true not in true_class or predicted not in predicted_class:
            continue
        if true_class[true] != predicted_class[predicted]:
            continue
        on_void = pairs.get((VOID, predicted), 0)
        iou = shared / (areas[predicted] + true_areas[true] - shared - on_void)
        if iou > 0.5:
            counts = totals.setdefault(true_class[true], Counts())
            counts.tp += 1
            counts.iou += iou
            matched_true.add(true)
            matched_predicted.add(predicted)
    for true, name in true_class.items():
        if true in true_areas and true not in matched_true:
            totals.setdefault(name, Counts()).fn += 1
    for predicted, name in predicted_class.items():
        if predicted not in areas or predicted in matched_predicted:
            continue
        if pairs.get((VOID, predicted), 0) / areas[predicted] <= 0.5:
            totals.setdefault(name, Counts()).fp += 1


def average(totals: Mapping[str, Counts]) -> dict[str, float]:
    """PQ, SQ and RQ over the classes that have any segment."""
    rows = []
    for counts in totals.values():
        whole = counts.tp + 0.5 * counts.fp + 0.5 * counts.fn
        sq = counts.iou / counts.tp if counts.tp else 0.0
        rows.append((counts.iou / whole, sq, counts.tp / whole))
    means = np.mean(rows, axis=0)
    return dict(zip(("pq", "sq", "rq"), means.tolist(), strict=True))
