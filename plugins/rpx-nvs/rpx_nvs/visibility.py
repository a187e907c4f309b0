"""Which pixels of the target show a surface that a source view sees too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.warp import OCCLUSION_TOLERANCE, is_measured
from rpx_nvs.projection import Camera, Projected, project

Depth = NDArray[np.float32]

HIDDEN, UNKNOWN, SEEN = 0, 1, 2
"""No source sees the point, it cannot be told, at least one sees it: ordered, the largest wins."""


@dataclass(frozen=True)
class DepthView:
    """A depth map (H, W) in metres, 0 where unknown, and the camera that took it."""

    depth: Depth
    camera: Camera


def find_seen(target: DepthView, sources: Sequence[DepthView]) -> NDArray[np.uint8]:
    """HIDDEN, UNKNOWN or SEEN for every target pixel (H, W).

    A point is seen where the nearest source pixel measures its depth within 5 %; hidden where it
    lies beside the source image or behind its camera, or where the source measures another depth:
    something in front, or, of a thing that moved, what was behind it. Unknown without a depth in
    the target or at the place in the source.
    """
    seen = np.full(target.depth.shape, UNKNOWN, np.uint8)
    for number, source in enumerate(sources):
        one = _seen_by(target, source)
        seen = np.maximum(seen, one) if number else one
    return seen


def _seen_by(target: DepthView, source: DepthView) -> NDArray[np.uint8]:
    points = project(target.depth, target.camera, source.camera)
    flat = np.where(is_measured(target.depth), np.uint8(HIDDEN), np.uint8(UNKNOWN)).reshape(-1)
    place = nearest_pixel(points, source.depth.shape)
    inside = place >= 0
    measured = source.depth.reshape(-1)[place[inside]].astype(np.float64)
    agrees = np.abs(points.depth[inside] - measured) <= OCCLUSION_TOLERANCE * measured
    flat[points.origin[inside]] = np.where(
        is_measured(measured), np.where(agrees, SEEN, HIDDEN), UNKNOWN
    )
    return flat.reshape(target.depth.shape)


def nearest_pixel(points: Projected, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Flat index of the pixel that each point falls on, -1 beside the image."""
    height, width = shape[0], shape[1]
    # Clipped: a number far outside does not fit an integer.
    column = np.rint(np.clip(points.column, -2, width + 1)).astype(np.int64)
    row = np.rint(np.clip(points.row, -2, height + 1)).astype(np.int64)
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    return np.where(inside, row * width + column, -1)
