"""Forward warping: the pixels of a view with depth, spread over the image of another camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.warp import Camera, Depth, Indices, View, is_measured, project
from rpx_nvs.types import Image

SAME_SURFACE = 0.01
"""Points within this share of the nearest depth at a pixel belong to one surface and blend."""

_LEAST_WEIGHT = 1e-3
"""A point this far out on a pixel's rim would paint it alone with next to no evidence."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ColouredView:
    """An image (H, W, 3) with the depth (0 = unknown) and the camera of its pixels."""

    rgb: Image
    view: View


@dataclass(frozen=True)
class _Corner:
    """Points at one of the four pixels around them: its index on a rimmed image, and weights."""

    pixel: Indices
    weight: Floats


@dataclass(frozen=True)
class _Points:
    """Surface points of one view on the target: depth (m), colour (3, n), and where they paint."""

    depth: Floats
    colour: Floats
    corners: Sequence[_Corner]


def splat(
    views: Sequence[ColouredView], target: Camera, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Colour (H, W, 3; 0 to 255) and depth (H, W; 0 where nothing lands) seen by the target.

    Every source pixel is one point and spreads bilinearly over the four pixels around where it
    lands. The nearest depth at a pixel decides; points of the same surface blend by weight.
    """
    # One pixel of rim on every side: a point at the edge paints there instead of being cut.
    rimmed = (shape[0] + 2, shape[1] + 2)
    size = rimmed[0] * rimmed[1]
    clouds = [_project_points(view, target, shape) for view in views]
    nearest = np.full(size, np.inf)
    for points in clouds:
        for corner in points.corners:
            arriving = np.where(corner.weight > 0, points.depth, np.inf)
            np.minimum.at(nearest, corner.pixel, arriving)
    total, weight = np.zeros((3, size)), np.zeros(size)
    for points in clouds:
        for corner in points.corners:
            front = points.depth <= nearest[corner.pixel] * (1 + SAME_SURFACE)
            share = np.where(front, corner.weight, 0)
            weight += np.bincount(corner.pixel, share, size)
            for channel, values in enumerate(points.colour):
                total[channel] += np.bincount(corner.pixel, share * values, size)
    hit = weight > 0
    colour = np.divide(total, weight, out=np.zeros_like(total), where=hit)
    inner = (slice(1, -1), slice(1, -1))
    image = np.moveaxis(colour.reshape(3, *rimmed)[:, *inner], 0, -1)
    return image, np.where(hit, nearest, 0).reshape(rimmed)[inner]


def fill_holes(colour: Floats, depth: Depth) -> Floats:
    """The image with every pixel of unknown depth taking the colour that stands in for it.

    It is that of the nearest known pixel to the left or right, of the two the one farther away:
    what comes into sight beside an edge is background. Empty rows copy the nearest row that is not.
    """
    return _fill(colour, depth)


def fill_depth(depth: Depth) -> Depth:
    """The depth map with its unknown pixels filled by the same rule; all unknown stays so."""
    return _fill(depth, depth)


def _fill(values: NDArray[Any], depth: Depth) -> NDArray[Any]:
    known = is_measured(depth)
    some = np.any(known, axis=1)
    rows, columns = np.nonzero(~known & some[:, None])
    filled = values.copy()
    filled[rows, columns] = values[rows, _substitutes(depth, known)[rows, columns]]
    sources = np.flatnonzero(some)
    if sources.size and not some.all():
        empty = np.flatnonzero(~some)
        filled[empty] = filled[sources[np.abs(empty[:, None] - sources).argmin(axis=1)]]
    return filled


def _substitutes(depth: Depth, known: NDArray[np.bool_]) -> Indices:
    """For each pixel (H, W) the column that stands in for it, in rows that hold a known depth."""
    width = depth.shape[1]
    columns = np.broadcast_to(np.arange(width), depth.shape)
    left = np.maximum.accumulate(np.where(known, columns, -1), axis=1)
    right = np.minimum.accumulate(np.where(known, columns, width)[:, ::-1], axis=1)[:, ::-1]
    # Columns -1 and `width` fall on the rim, which is nearer than anything.
    rimmed = np.pad(np.where(known, depth, 0), ((0, 0), (1, 1)))
    from_left = np.take_along_axis(rimmed, left + 1, axis=1)
    from_right = np.take_along_axis(rimmed, right + 1, axis=1)
    return np.where(from_left >= from_right, left, right)


def _project_points(source: ColouredView, target: Camera, shape: tuple[int, int]) -> _Points:
    height, width = shape
    points = project(source.view, target)
    near = np.flatnonzero(
        (points.column > -1) & (points.column < width) & (points.row > -1) & (points.row < height)
    )
    x, y = points.column[near], points.row[near]
    left, top = np.floor(x), np.floor(y)
    right_share, lower_share = x - left, y - top
    first = ((top + 1) * (width + 2) + (left + 1)).astype(np.int64)
    corners = []
    for down, row_share in ((0, 1 - lower_share), (1, lower_share)):
        for across, column_share in ((0, 1 - right_share), (1, right_share)):
            weight = row_share * column_share
            weight[weight <= _LEAST_WEIGHT] = 0
            corners.append(_Corner(first + (down * (width + 2) + across), weight))
    colour = source.rgb.reshape(-1, 3)[points.origin[near]].T.astype(np.float64)
    return _Points(points.depth[near], colour, corners)
