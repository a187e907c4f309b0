"""The segments of one image as the ranking takes them, with how much they overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.ranking.ranked_list import DetectionColumns, ImageBatch, ObjectColumns
from rpx_seg.overlaps import SegmentOverlaps, Vector


@dataclass(frozen=True, eq=False)
class ScoredSegments:
    """Overlapping segments of one image, the class of each, and the score of each predicted one."""

    overlaps: SegmentOverlaps
    truth_classes: NDArray[np.str_]
    prediction_classes: NDArray[np.str_]
    scores: Vector


def segment_batch(segments: ScoredSegments) -> ImageBatch:
    """One image. Void is a crowd of every class: what lies on it is ignored if nothing matches."""
    overlaps, truths = segments.overlaps, segments.truth_classes.size
    names = np.concatenate([segments.truth_classes, segments.prediction_classes])
    classes, labels = np.unique(names, return_inverse=True)
    # Behind the true segments: of equal overlaps the last is taken.
    crowds = np.arange(truths + classes.size) >= truths
    objects = ObjectColumns(
        images=np.zeros(crowds.size, np.intp),
        labels=np.concatenate([labels[:truths], np.arange(classes.size)]),
        areas=np.concatenate([overlaps.truth_areas, np.zeros(classes.size)]),
        positions=np.zeros((crowds.size, 0)),
        crowds=crowds,
        ignored=crowds,
    )
    found = segments.prediction_classes.size
    detections = DetectionColumns(
        images=np.zeros(found, np.intp),
        labels=labels[truths:],
        areas=overlaps.prediction_areas.astype(np.float64),
        positions=np.zeros((found, 0)),
        scores=segments.scores,
        excused=np.zeros(found, np.bool_),
    )
    table = _overlap_table(overlaps)
    return ImageBatch(
        objects,
        detections,
        lambda first, second: table[first, np.minimum(second, truths)],
        classes,
    )


def _overlap_table(overlaps: SegmentOverlaps) -> Vector:
    """IoU (predicted, true), and in a last column the share of each predicted segment on void."""
    areas, rows, columns = overlaps.prediction_areas, overlaps.rows, overlaps.columns
    table = np.zeros((areas.size, overlaps.truth_areas.size + 1))
    union = overlaps.truth_areas[rows] + areas[columns] - overlaps.shared
    table[columns, rows] = overlaps.shared / union
    table[:, -1] = overlaps.void_areas / areas
    return table
