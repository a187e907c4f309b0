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
_INT32 = 1 << 31
_WORTHWHILE = 16
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
    low_a, low_b, high_a, high_b = int(a.min()), int(b.min()), int(a.max()), int(b.max())
    width = high_b - low_b + 1
    bins = (high_a - low_a + 1) * width
    # One number per pair, in a type that holds all: narrow labels would wrap around.
    largest = max(max(-low_a, high_a) * width + max(-low_b, high_b), bins)
    codes = np.multiply(a, width, dtype=np.int32 if largest < _INT32 else np.int64)
    codes += b
    codes -= low_a * width + low_b
    if bins <= _DENSE_BINS:
        counts = np.bincount(codes, lengths, minlength=bins)
        found = np.flatnonzero(counts)
        pixels = counts[found]
    else:
        found, place = np.unique(codes, return_inverse=True)
        pixels = np.bincount(place, lengths)
    rows, columns = np.divmod(found.astype(np.int64), width)
    return LabelPairs(rows + low_a, columns + low_b, pixels.astype(np.int64))


def overlap_segments(truth: Labels, prediction: Labels) -> SegmentOverlaps:
    """Compare two label maps of one shape: 0 is background, a negative truth label void."""
    pairs = count_pairs(truth, prediction)
    in_truth, in_prediction = pairs.first > 0, pairs.second > 0
    truth_ids, rows = np.unique(pairs.first[in_truth], return_inverse=True)
    prediction_ids, columns = np.unique(pairs.second[in_prediction], return_inverse=True)
    on_void = pairs.first[in_prediction] < 0
    pixels = pairs.pixels[in_prediction]
    both = in_truth & in_prediction
    return SegmentOverlaps(
        truth_ids=truth_ids,
        truth_areas=_total(rows, pairs.pixels[in_truth], truth_ids.size),
        prediction_ids=prediction_ids,
        prediction_areas=_total(columns, pixels, prediction_ids.size),
        void_areas=_total(columns[on_void], pixels[on_void], prediction_ids.size),
        rows=np.searchsorted(truth_ids, pairs.first[both]).astype(np.int64),
        columns=np.searchsorted(prediction_ids, pairs.second[both]).astype(np.int64),
        shared=pairs.pixels[both],
    )


def _stretches(a: Labels, b: Labels) -> tuple[Labels, Labels, Counts | None]:
    """Equal neighbours as one pair and a length, where that is much shorter; else as they are."""
    changes = a[1:] != a[:-1]
    changes |= b[1:] != b[:-1]
    ends = np.flatnonzero(changes)
    if ends.size * _WORTHWHILE > a.size:
        return a, b, None
    starts = np.concatenate([np.zeros(1, np.intp), ends + 1])
    return a[starts], b[starts], np.diff(starts, append=a.size)


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


def _total(positions: NDArray[Any], pixels: Counts, size: int) -> Counts:
    total = np.zeros(size, np.int64)
    np.add.at(total, positions, pixels)
    return total
