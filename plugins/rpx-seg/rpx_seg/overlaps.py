"""How many pixels true and predicted segments share: what every mask metric starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

Labels = NDArray[np.integer[Any]]
Counts = NDArray[np.int64]
Vector = NDArray[np.float64]

VOID = -1
"""Label of truth pixels that nothing is judged by, and of predicted ones without an answer."""

MAX_LABELS = 4096
"""Labels of one map, or classes of a dataset: tables of pairs of them have that many squared."""

_DENSE_BINS = 1 << 18
_FEW = 1 << 9
"""Labels in a range this small need no numbering; two such maps fit the dense bins."""
_TABLE = 1 << 20
"""Labels in a range this large are numbered by a table, in larger ones by sorting."""
_INT32 = 1 << 31
_WORTHWHILE = 4
"""Stretches of equal pixels are counted instead of pixels when they are this long on average."""


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Every pair of labels that share a pixel, ordered by the first, then the second label."""

    first: Counts
    second: Counts
    pixels: Counts


@dataclass(frozen=True, eq=False)
class SegmentOverlaps:
    """Segments of a truth and a prediction, and every pair of them that overlaps.

    Segments are the labels above 0. Per true segment its id and area, per predicted one its id,
    area and how much of that lies on void; per overlapping pair the positions of both segments in
    those lists and the pixels that they share. All areas are in pixels.
    """

    truth_ids: Counts
    truth_areas: Counts
    prediction_ids: Counts
    prediction_areas: Counts
    void_areas: Counts
    rows: Counts
    columns: Counts
    shared: Counts

    def iou(self) -> Vector:
        """Intersection over union of each overlapping pair, void left out of the union."""
        judged = self.prediction_areas - self.void_areas
        union = self.truth_areas[self.rows] + judged[self.columns] - self.shared
        iou: Vector = self.shared / union
        return iou


def count_pairs(first: Labels, second: Labels) -> LabelPairs:
    """Count the pixels of every pair of labels of two maps of one shape, exactly.

    Raises MetricError for unequal shapes, empty maps and labels that are not integers of 32 bits.
    """
    a, b = _as_labels(first), _as_labels(second)
    if a.shape != b.shape or a.size == 0:
        raise MetricError(f"label maps are {a.shape} and {b.shape}; equal, not empty expected")
    a, b, lengths = _stretches(a.reshape(-1), b.reshape(-1))
    (first, a), (second, b) = _number(a), _number(b)
    bins = first.size * second.size
    # One number per pair, in a type that holds all: narrow labels would wrap around.
    codes = np.multiply(a, second.size, dtype=np.int32 if bins < _INT32 else np.int64)
    codes += b
    if bins <= _DENSE_BINS:
        counts = np.bincount(codes, lengths, minlength=bins)
        found = np.flatnonzero(counts)
        pixels = counts[found]
    elif lengths is None:
        found, pixels = np.unique(codes, return_counts=True)
    else:
        found, place = np.unique(codes, return_inverse=True)
        pixels = np.bincount(place, lengths)
    rows, columns = np.divmod(found, second.size)
    return LabelPairs(first[rows], second[columns], pixels.astype(np.int64))


def overlap_segments(truth: Labels, prediction: Labels) -> SegmentOverlaps:
    """Compare two label maps of one shape: 0 is background, a negative truth label void."""
    pairs = count_pairs(truth, prediction)
    first, second, pixels = pairs.first, pairs.second, pairs.pixels
    truth_ids, rows = _index(first)
    prediction_ids, columns = _index(second)
    both = (rows >= 0) & (columns >= 0)
    void_areas = np.zeros(prediction_ids.size, np.int64)
    if first[0] < 0:
        void_areas = _total(np.where(first < 0, columns, -1), pixels, prediction_ids.size)
    return SegmentOverlaps(
        truth_ids=truth_ids,
        truth_areas=_total(rows, pixels, truth_ids.size),
        prediction_ids=prediction_ids,
        prediction_areas=_total(columns, pixels, prediction_ids.size),
        void_areas=void_areas,
        rows=rows[both],
        columns=columns[both],
        shared=pixels[both],
    )


def _stretches(a: Labels, b: Labels) -> tuple[Labels, Labels, Counts | None]:
    """Equal neighbours as one pair and a length, where that is much shorter; else as they are."""
    changes = a[1:] != a[:-1]
    changes |= b[1:] != b[:-1]
    ends = np.flatnonzero(changes)
    if ends.size * _WORTHWHILE > a.size:
        return a, b, None
    ends = np.append(ends, a.size - 1)
    return a[ends], b[ends], np.diff(ends, prepend=-1)


def _as_labels(labels: Labels) -> Labels:
    array = np.asarray(labels)
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    if array.dtype.kind not in "iu":
        raise MetricError(f"a label map has dtype {array.dtype}; whole numbers expected")
    if not np.can_cast(array.dtype, np.int32) and array.size:
        span = np.iinfo(np.int32)
        if array.min() < span.min or array.max() > span.max:
            raise MetricError("a label map holds labels that do not fit 32 bits")
    return array


def _number(labels: Labels) -> tuple[Counts, Labels]:
    """Names, ascending, and each label as its place among them; not every name need occur."""
    low, high = int(labels.min()), int(labels.max())
    span = high - low + 1
    if span <= _FEW:
        return np.arange(low, high + 1), np.subtract(labels, low, dtype=np.int32)
    if span > min(_TABLE, 8 * labels.size):
        names = np.unique(labels)
        return names.astype(np.int64), np.searchsorted(names, labels)
    shifted = np.subtract(labels, low, dtype=np.int32)
    present = np.zeros(span, np.bool_)
    present[shifted] = True
    names = np.flatnonzero(present)
    table = np.empty(span, np.int32)
    table[names] = np.arange(names.size, dtype=np.int32)
    return names + low, table[shifted]


def _index(labels: Counts) -> tuple[Counts, Counts]:
    """The labels above 0, ascending, and for each entry the place of its label there, or -1."""
    names, places = _number(np.maximum(labels, 0))
    present = np.zeros(names.size, np.bool_)
    present[places] = True
    present[0] &= names[0] > 0
    order = np.cumsum(present) - 1
    return names[present], np.where(labels > 0, order[places], -1)


def _total(positions: Counts, pixels: Counts, size: int) -> Counts:
    """Pixels by position; those at -1 are left out. Sums below 2^53 are exact in floats."""
    return np.bincount(positions + 1, pixels, size + 1)[1:].astype(np.int64)
