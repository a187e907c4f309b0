"""Points of an image, and reading a depth map there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

Points = NDArray[np.float64]
"""Coordinates (N, 2): x, the column, then y, the row, in pixels; whole at pixel centres."""


def as_points(numbers: NDArray[Any]) -> Points | None:
    """A float64 copy as points, none of an empty array; None for what cannot be points."""
    if numbers.dtype.kind not in "iuf":
        return None
    if numbers.shape == (0,):
        return np.empty((0, 2))
    if numbers.ndim != 2 or numbers.shape[1] != 2:
        return None
    return np.array(numbers, dtype=np.float64, order="C", subok=False)


def nearest_pixels(coordinates: Points) -> NDArray[np.float64]:
    """The pixels (N, 2), column and row, that hold the points; a point between two takes the later.

    Whole numbers in float64, for they may lie outside any image.
    """
    return np.floor(coordinates + 0.5)


def is_inside(coordinates: Points, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which points lie on a pixel of an image of this height and width."""
    columns, rows = nearest_pixels(coordinates).T
    height, width = shape
    inside: NDArray[np.bool_] = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    return inside


def sample_depth(depth: NDArray[Any], coordinates: Points) -> NDArray[Any]:
    """The depths (N,) of a map (H, W) at its pixels nearest to the points.

    Never interpolated: between a surface and its background lies no depth. Raises MetricError for
    a point outside the map, where an index would wrap around.
    """
    outside = np.flatnonzero(~is_inside(coordinates, depth.shape))
    if outside.size:
        x, y = coordinates[outside[0]]
        height, width = depth.shape
        raise MetricError(
            f"the point x {x:g}, y {y:g} lies outside a depth map {width} wide and {height} high"
        )
    columns, rows = nearest_pixels(coordinates).astype(np.intp).T
    at_points: NDArray[Any] = depth[rows, columns]
    return at_points
