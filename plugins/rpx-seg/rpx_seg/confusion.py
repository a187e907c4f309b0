"""Numbers of a confusion matrix: IoU, Dice and accuracies, under declared rules for the mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_seg.overlaps import MAX_LABELS, VOID, Counts, LabelPairs, Vector

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Confusion:
    """Pixels by true (rows) and predicted (columns) class, void pixels left out.

    `classes` are the ids of rows and columns, ascending; `abstained` are true pixels of each class
    that have no answer, `ignored` the void pixels. All counts are exact, in 64 bits.
    """

    classes: Counts
    matrix: Counts
    abstained: Counts
    ignored: int

    @property
    def true(self) -> Counts:
        """True pixels per class."""
        pixels: Counts = self.matrix.sum(axis=1) + self.abstained
        return pixels

    @property
    def predicted(self) -> Counts:
        """Predicted pixels per class."""
        pixels: Counts = self.matrix.sum(axis=0)
        return pixels

    @property
    def correct(self) -> Counts:
        """Pixels of each class that were answered with it."""
        return self.matrix.diagonal()


def tabulate(pairs: LabelPairs, classes: Collection[int] = ()) -> Confusion:
    """The confusion matrix of counted label pairs, which may repeat; -1 is void or no answer.

    Rows and columns are the classes that occur, and those in `classes`; raises MetricError for
    more than a table can have.
    """
    judged = pairs.first != VOID
    truth, prediction, pixels = (
        column[judged] for column in (pairs.first, pairs.second, pairs.pixels)
    )
    answered = prediction != VOID
    listed = np.array(sorted(classes), np.int64)
    ids = np.unique(np.concatenate([truth, prediction[answered], listed]))
    if ids.size > MAX_LABELS:
        raise MetricError(
            f"{ids.size:,} classes occur; at most {MAX_LABELS:,} can be tabulated",
            hint="are these class maps, or instance ids, depths, colours?",
        )
    rows = np.searchsorted(ids, truth)
    matrix, abstained = np.zeros((ids.size, ids.size), np.int64), np.zeros(ids.size, np.int64)
    columns = np.searchsorted(ids, prediction[answered])
    np.add.at(matrix, (rows[answered], columns), pixels[answered])
    np.add.at(abstained, rows[~answered], pixels[~answered])
    return Confusion(ids, matrix, abstained, int(pairs.pixels[~judged].sum()))


def iou(confusion: Confusion) -> Vector:
    """TP / (TP + FP + FN) per class; NaN for a class that occurs on neither side."""
    union = confusion.true + confusion.predicted - confusion.correct
    return _divide(confusion.correct, union)


def dice(confusion: Confusion) -> Vector:
    """2 TP / (2 TP + FP + FN) per class; NaN for a class that occurs on neither side."""
    return _divide(2 * confusion.correct, confusion.true + confusion.predicted)


def recall(confusion: Confusion) -> Vector:
    """TP / true pixels per class; NaN for a class without true pixels."""
    return _divide(confusion.correct, confusion.true)


def precision(confusion: Confusion) -> Vector:
    """TP / predicted pixels per class; NaN for a class that is never predicted."""
    return _divide(confusion.correct, confusion.predicted)


def pixel_accuracy(confusion: Confusion) -> float | None:
    """Share of judged pixels that are right; None without any."""
    total = int(confusion.true.sum())
    return int(confusion.correct.sum()) / total if total else None


def frequency_weighted_iou(confusion: Confusion) -> float | None:
    """Mean IoU weighted by the true pixels of each class; None without any."""
    weights = confusion.true
    total = int(weights.sum())
    if not total:
        return None
    present = weights > 0
    return float(np.dot(iou(confusion)[present], weights[present]) / total)


def mean_over(values: Vector, chosen: Flags) -> float | None:
    """Mean of the chosen values that are defined; None without any."""
    kept = values[chosen & ~np.isnan(values)]
    return float(kept.mean()) if kept.size else None


def _divide(part: Counts, whole: Counts) -> Vector:
    share: Vector = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return share
