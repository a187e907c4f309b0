"""Where a depth map jumps: depth boundaries for the coherence of masks and depth."""

from __future__ import annotations

import numpy as np

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.pixel_errors import Depth, Mask, is_depth

RELATIVE_JUMP = 0.1
"""Two neighbours belong to different surfaces when the farther is over 10 % farther away."""


def relative_boundary(depth: Depth, threshold: float = RELATIVE_JUMP) -> Mask:
    """A thin boundary: the nearer of two neighbours where far / near exceeds 1 + `threshold`.

    Neighbours are left-right and up-down. Only pairs of two depths count, so neither holes nor the
    image border make a boundary; a constant map has none.
    """
    if depth.ndim != 2:
        raise MetricError(f"a depth map has shape {depth.shape}; height x width expected")
    if not threshold > 0:
        raise ConfigError(f"boundary threshold {threshold} is not positive")
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
