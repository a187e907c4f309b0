"""Boxes of many images as the ranking takes them, with how much they overlap."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.ranking.matching import Floats, Indices
from rpx_core.ranking.ranked_list import DetectionColumns, ImageBatch, ObjectColumns
from rpx_detection.boxes import intersections


def box_batch(
    objects: ObjectColumns,
    detections: DetectionColumns,
    extents: Floats,
    classes: NDArray[Any],
    images: int = 1,
) -> ImageBatch:
    """So many images whose positions are boxes, which overlap by their IoU.

    `extents` are the areas of the objects' boxes; `objects.areas`, which decide on the size range,
    may be those of something else. The areas of detections are those of their boxes.
    """
    overlap = partial(_overlap, detections, objects, extents)
    return ImageBatch(objects, detections, overlap, classes, images)


def _overlap(
    detections: DetectionColumns,
    objects: ObjectColumns,
    extents: Floats,
    first: Indices,
    second: Indices,
) -> Floats:
    shared = intersections(detections.positions[first], objects.positions[second])
    own = detections.areas[first]
    # A crowd is no object: what counts is how much of the detection lies in it.
    union = np.where(objects.crowds[second], own, own + extents[second] - shared)
    return np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)
