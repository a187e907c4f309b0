"""From a ranked list to precision and recall, by COCO's arithmetic.

Precision and recall of a class are COCO's to the last bit. So are the means where the names of
classes sort as their category ids do; else the order of the sum may move the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.ranking.matching import Flags, Floats, Indices
from rpx_core.ranking.ranked_list import RankedList, unpack

RECALL_LEVELS = np.linspace(0.0, 1.0, 101)
"""i * 0.01, which is not i / 100: 57 of 100 objects do not reach level 57."""


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Precision and recall of every class; rows without `objects` (classes, ranges) mean nothing.

    `precision` is (classes, ranges, thresholds, levels): the best precision at that recall or
    beyond it. `recall` is (caps, classes, ranges, thresholds).
    """

    classes: NDArray[Any]
    objects: NDArray[np.int64]
    precision: Floats
    recall: Floats

    def mean_precision(self, size: int, thresholds: Sequence[int]) -> float | None:
        """Mean over levels, thresholds and the classes that have objects; None without any."""
        defined = self.objects[:, size] > 0
        # COCO averages in the order (threshold, level, class).
        values = self.precision[defined, size][:, list(thresholds)].transpose(1, 2, 0)
        return float(np.mean(values.ravel())) if values.size else None

    def mean_recall(self, size: int, cap: int) -> float | None:
        """The same of the recall of all detections below a cap, by its index."""
        defined = self.objects[:, size] > 0
        values = self.recall[cap, defined, size].T
        return float(np.mean(values.ravel())) if values.size else None

    def objects_of(self, label: object) -> int:
        """How many objects of one class count, whatever their size."""
        return int(self.objects[self.classes == label, 0].sum())

    def precision_of(self, label: object) -> float | None:
        """Mean precision of one class over levels and thresholds; None without objects."""
        return self._mean_of(label, self.precision)

    def recall_of(self, label: object) -> float | None:
        """Mean recall of one class over thresholds, below the largest cap; None without objects."""
        return self._mean_of(label, self.recall[-1])

    def _mean_of(self, label: object, values: Floats) -> float | None:
        if not self.objects_of(label):
            return None
        return float(np.mean(values[self.classes == label, 0]))


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The detections of one class in the order of their scores, over all images.

    `hits` and `counted` are (ranges * thresholds, N).
    """

    scores: Floats
    hits: Flags
    counted: Flags


def score_classes(
    ranked: RankedList, thresholds: int, caps: Sequence[int], *, group_ties: bool
) -> ClassScores:
    """Precision and recall of each class in a ranked list, classes sorted.

    With `group_ties`, detections of equal score count together, as a score threshold would take
    them: their order does not matter. Without, they count one by one in the order of the list.
    """
    classes, labels = np.unique(ranked.classes, return_inverse=True)
    ranges = ranked.objects.shape[1]
    objects = np.zeros((len(classes), ranges), np.int64)
    np.add.at(objects, labels, ranked.objects)
    precision = np.zeros((len(classes), ranges, thresholds, len(RECALL_LEVELS)))
    recall = np.zeros((len(caps), len(classes), ranges, thresholds))
    places = _places(ranked.detections)
    members = _rows_by_class(labels, ranked.detections, len(classes))
    for index in np.flatnonzero(objects.any(axis=1)):
        rows = members[index]
        hits = unpack(ranked.hits[rows], thresholds)
        for number, cap in enumerate(caps):
            found = np.count_nonzero(hits & (places[rows] < cap), axis=1)
            recall[number, index] = _share(found.reshape(ranges, -1), objects[index])
        order = np.argsort(-ranked.scores[rows], kind="stable")
        counted = ~unpack(ranked.ignored[rows[order]], thresholds)
        ranking = _Ranking(ranked.scores[rows[order]], hits[:, order], counted)
        precision[index] = _interpolate(ranking, objects[index], thresholds, group_ties=group_ties)
    return ClassScores(classes, objects, precision, recall)


def _places(detections: NDArray[np.int32]) -> Indices:
    """The place of each detection in its class and image, from 0."""
    starts = np.cumsum(detections) - detections
    return np.arange(int(detections.sum())) - np.repeat(starts, detections)


def _rows_by_class(labels: Indices, detections: NDArray[np.int32], classes: int) -> list[Indices]:
    """The rows of the detections of each class, in the order of the images."""
    own = np.repeat(labels, detections)
    rows = np.argsort(own, kind="stable")
    return np.split(rows, np.searchsorted(own[rows], np.arange(1, classes)))


def _share(found: NDArray[np.intp], objects: NDArray[np.int64]) -> Floats:
    return np.divide(found, objects[:, None], out=np.zeros(found.shape), where=objects[:, None] > 0)


def _interpolate(
    ranking: _Ranking, objects: NDArray[np.int64], thresholds: int, *, group_ties: bool
) -> Floats:
    """Precision at each level (ranges, thresholds, levels): the highest at that recall or later.

    Only hits can raise the envelope of the curve, so it is computed on them alone.
    """
    rows, size = ranking.hits.shape
    answered = np.cumsum(ranking.counted, axis=1, dtype=np.int32).ravel()
    flat = np.flatnonzero(ranking.hits)
    row, column = np.divmod(flat, max(size, 1))
    found = np.bincount(row, minlength=rows)
    number = np.arange(len(flat)) - (np.cumsum(found) - found)[row]
    hits = number + 1
    if group_ties:
        last = np.searchsorted(-ranking.scores, -ranking.scores, "right") - 1
        flat = row * size + last[column]
        hits = np.cumsum(ranking.hits, axis=1, dtype=np.int32).ravel()[flat]
    # COCO's guard against 0 / 0, which cannot occur here and keeps a perfect precision from 1.
    guard = 0.0 if group_ties else np.spacing(1.0)
    envelope = np.zeros((rows, found.max(initial=0) + 1))
    envelope[row, number] = hits / (answered[flat] + guard)
    envelope = np.maximum.accumulate(envelope[:, ::-1], axis=1)[:, ::-1]
    needed = np.repeat([_hits_needed(count) for count in objects.tolist()], thresholds, axis=0)
    reached = needed < found[:, None]
    best = np.take_along_axis(envelope, np.where(reached, needed, envelope.shape[1] - 1), axis=1)
    return best.reshape(len(objects), thresholds, -1)


def _hits_needed(objects: int) -> Indices:
    """How many hits come before the one that reaches each recall level."""
    return np.searchsorted(np.arange(1, objects + 1) / objects if objects else [], RECALL_LEVELS)
