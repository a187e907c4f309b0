"""Boxes: their areas, how much they overlap, and the conventions other programs write them in.

Everywhere else in this package a box is `x0, y0, x1, y1` in pixels, half-open: width is x1 - x0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]
MAX_OBJECTS = 5_000
"""Objects that one image may be annotated with."""
MAX_DETECTIONS = 10_000
"""Boxes that may be predicted for one image: all are compared with all objects."""
_BLOCK_PAIRS = 1 << 20

Layout = Literal["xyxy", "xywh", "cxcywh"]
Space = Literal["pixels", "unit", "thousand"]


def areas_of(boxes: Boxes) -> NDArray[np.float64]:
    """Area of each box (N, 4) in pixels; 0 where it is empty or inverted."""
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 0)
    return np.asarray(sides[:, 0] * sides[:, 1])


def is_degenerate(boxes: Boxes) -> NDArray[np.bool_]:
    """Which boxes (N, 4) have no area: empty or inverted."""
    return np.asarray((boxes[:, 2:] <= boxes[:, :2]).any(axis=1))


def intersections(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """Area that each box shares with its partner, over the last axis; broadcasts."""
    width = np.minimum(first[..., 2], second[..., 2]) - np.maximum(first[..., 0], second[..., 0])
    height = np.minimum(first[..., 3], second[..., 3]) - np.maximum(first[..., 1], second[..., 1])
    return np.asarray(np.where((width > 0) & (height > 0), width * height, 0.0))


def pairwise_iou(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """Intersection over union of every box (N, 4) with every other (M, 4), as (N, M).

    An empty or inverted box overlaps nothing, itself included: 0, never NaN.
    """
    iou = np.zeros((len(first), len(second)))
    areas, others = areas_of(first), areas_of(second)
    # Block by block: what is computed on the way takes several times the room of the result.
    rows = max(_BLOCK_PAIRS // max(len(second), 1), 1)
    for start in range(0, len(first), rows):
        block = slice(start, start + rows)
        shared = intersections(first[block, None], second[None])
        union = areas[block, None] + others[None] - shared
        np.divide(shared, union, out=iou[block], where=shared > 0)
    return iou


def to_pixels(boxes: Boxes, *, layout: Layout, space: Space, size: tuple[int, int]) -> Boxes:
    """Boxes of a declared layout and coordinate space as xyxy pixels; `size` is (height, width).

    `unit` coordinates run from 0 to 1 over the image, `thousand` from 0 to 1000.
    """
    height, width = size
    unit = {"pixels": (1.0, 1.0), "unit": (width, height), "thousand": (width / 1e3, height / 1e3)}
    return _TO_CORNERS[layout](boxes) * np.tile(np.asarray(unit[space], np.float64), 2)


def _from_top_left(boxes: Boxes) -> Boxes:
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)


def _from_centre(boxes: Boxes) -> Boxes:
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


_TO_CORNERS: Mapping[str, Callable[[Boxes], Boxes]] = MappingProxyType(
    {"xyxy": lambda boxes: boxes, "xywh": _from_top_left, "cxcywh": _from_centre}
)
