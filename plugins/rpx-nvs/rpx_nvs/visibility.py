"""Which pixels of the target show a surface that a source view sees too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rpx_core.warp import OCCLUSION_TOLERANCE, View, is_measured, project

HIDDEN, UNKNOWN, SEEN = 0, 1, 2
"""No source sees the point, it cannot be told, at least one sees it: ordered, the largest wins."""


def find_seen(target: View, sources: Sequence[View]) -> NDArray[np.uint8]:
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


def _seen_by(target: View, source: View) -> NDArray[np.uint8]:
    points = project(target, source.camera)
    seen = np.where(is_measured(target.depth), np.uint8(HIDDEN), np.uint8(UNKNOWN)).reshape(-1)
    inside, place = points.land(source.depth.shape)
    measured = source.depth.reshape(-1)[place].astype(np.float64)
    agrees = np.abs(points.depth[inside] - measured) <= OCCLUSION_TOLERANCE * measured
    seen[points.origin[inside]] = np.where(
        is_measured(measured), np.where(agrees, SEEN, HIDDEN), UNKNOWN
    )
    return seen.reshape(target.depth.shape)
