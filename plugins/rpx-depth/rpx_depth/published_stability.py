"""Temporal stability by the published rules, which `rpx-1` keeps.

The corrected rules warp with the full camera motion: `rpx_core.warp`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_core.published.stability import in_plane_angle, score_neighbours
from rpx_core.stability import Poses
from rpx_core.warp import turn
from rpx_depth.pixel_errors import Depth, Mask


def published_temporal_stability_depth(
    depths: Sequence[Depth], poses: Sequence[NDArray[np.float64] | None]
) -> tuple[float, ...]:
    """The published score of each neighbouring pair, in list order; empty for fewer than two.

    The later map is turned by the in-plane angle of the relative pose (not at all when a pose is
    None) and compared where both are positive: max(0, 1 - mean|difference| / max(range, 1 mm)),
    the range being the earlier map's. No common pixel scores 1. Trap: translation, pan and tilt
    are ignored, and a constant map scores 1; `rpx_core.warp.temporal_stability` has neither
    fault. The published code turns the map with OpenCV, which rounds positions to 1/32 pixel.
    """
    scores = score_neighbours(depths, poses, published_pair_score)
    return tuple(1.0 if score is None else score for score in scores)


def published_pair_score(depths: tuple[Depth, Depth], poses: Poses) -> float | None:
    """The published score of two maps, earlier first; None when they share no positive pixel.

    A pixel that is not finite is missing, like one of 0.
    """
    before, now = (np.where(np.isfinite(depth), depth, 0).astype(np.float32) for depth in depths)
    if before.shape != now.shape:
        raise MetricError(
            f"adjacent depth maps are {before.shape} and {now.shape}; equal shapes expected"
        )
    angle = in_plane_angle(poses)
    if angle is not None:
        now = turn(now, angle)
    valid: Mask = (before > 0) & (now > 0)
    if not valid.any():
        return None
    reference = before[valid].astype(np.float64)
    difference = float(np.abs(reference - now[valid]).mean())
    spread = max(float(reference.max() - reference.min()), 1e-3)
    return max(0.0, 1.0 - difference / spread)
