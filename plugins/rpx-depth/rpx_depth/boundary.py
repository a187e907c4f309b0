"""Where a depth map jumps: depth boundaries for the coherence of masks and depth."""

from __future__ import annotations

import numpy as np

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.pixel_errors import Depth, Mask, is_depth

RELATIVE_JUMP = 0.1
"""Two neighbours belong to different surfaces when the farther is over 10 % farther away."""


def gradient_boundary(depth: Depth, threshold: float = 0.1) -> Mask:
    """The published boundary: central-difference gradient above `threshold` metres per pixel.

    In float32, as published; differences along an axis are 0 in its first and last pixel. Trap:
    the map is used as it is, so the rim of a hole (0 m) is a boundary, and so is any slanted
    surface far away.
    """
    _check(depth, threshold)
    with np.errstate(invalid="ignore", over="ignore"):
        metres = depth.astype(np.float32)
        down, right = np.zeros_like(metres), np.zeros_like(metres)
        down[1:-1] = (metres[2:] - metres[:-2]) / 2
        right[:, 1:-1] = (metres[:, 2:] - metres[:, :-2]) / 2
        steep: Mask = np.sqrt(right**2 + down**2) > threshold
    return steep


def relative_boundary(depth: Depth, threshold: float = RELATIVE_JUMP) -> Mask:
    """A thin boundary: the nearer of two neighbours where far / near exceeds 1 + `threshold`.

    Neighbours are left-right and up-down. Only pairs of two depths count, so neither holes nor the
    image border make a boundary; a constant map has none.
    """
    _check(depth, threshold)
    valid = is_depth(depth)
    metres = np.where(valid, depth, 1).astype(np.float64)
    boundary = np.zeros(depth.shape, dtype=np.bool_)
    for first, second in (
        ((slice(None), slice(None, -1)), (slice(None), slice(1, None))),
        ((slice(None, -1), slice(None)), (slice(1, None), slice(None))),
    ):
        both = valid[first] & valid[second]
        limit = 1 + threshold
        boundary[first] |= both & (metres[second] > limit * metres[first])
        boundary[second] |= both & (metres[first] > limit * metres[second])
    return boundary


def _check(depth: Depth, threshold: float) -> None:
    if depth.ndim != 2:
        raise MetricError(f"a depth map has shape {depth.shape}; height x width expected")
    if not threshold > 0:
        raise ConfigError(f"boundary threshold {threshold} is not positive")
