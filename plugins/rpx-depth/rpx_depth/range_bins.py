"""Depth ranges (near, mid, far): which truth pixels each covers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rpx_core.errors import ConfigError
from rpx_depth.pixel_errors import Depth, Mask, is_depth

ALL = "all"


@dataclass(frozen=True)
class RangeBins:
    """Adjacent ranges in metres: each includes its near edge, the last includes its far edge too.

    A range with fewer than `min_pixels` truth pixels is undefined, never 0.
    """

    names: tuple[str, ...]
    edges: tuple[float, ...]
    min_pixels: int = 1

    def __post_init__(self) -> None:
        ordered = all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False))
        if not (ordered and all(map(math.isfinite, self.edges)) and self.edges[0] >= 0):
            raise ConfigError(
                f"depth ranges have edges {self.edges}; finite, increasing metres from 0 expected"
            )
        distinct = len({*self.names, ALL}) == len(self.names) + 1
        if not self.names or len(self.edges) != len(self.names) + 1 or not distinct:
            raise ConfigError(
                f"{len(self.names)} depth ranges need {len(self.names) + 1} edges and distinct "
                f"names other than {ALL!r}, got {len(self.edges)} edges and names {self.names}"
            )

    def bounds(self) -> dict[str, tuple[float, float]]:
        """The edges of each range, by name."""
        pairs = zip(self.edges, self.edges[1:], strict=False)
        return dict(zip(self.names, pairs, strict=True))

    def is_defined(self, truth_pixels: int) -> bool:
        """Whether a range with that many truth pixels has a value."""
        return truth_pixels >= self.min_pixels


ROBOTICS_BINS = RangeBins(("near", "mid", "far"), (0.3, 1.0, 2.5, 5.0), min_pixels=100)
"""Reach, room and corridor of an indoor robot."""


def square_root_bins(min_depth: float, max_depth: float) -> RangeBins:
    """Three ranges of equal width in √depth, so that near depths are resolved more finely.

    Raises ConfigError unless 0 <= min_depth < max_depth, both finite.
    """
    if not (0 <= min_depth < max_depth and math.isfinite(max_depth)):
        raise ConfigError(
            f"depth range {min_depth} to {max_depth} m is empty or not finite",
            hint="0 <= min < max, in metres",
        )
    low, high = math.sqrt(min_depth), math.sqrt(max_depth)
    step = (high - low) / 3
    edges = (min_depth, (low + step) ** 2, (low + 2 * step) ** 2, max_depth)
    return RangeBins(("near", "mid", "far"), tuple(map(float, edges)))


def bin_masks(truth: Depth, bins: RangeBins) -> dict[str, Mask]:
    """A mask per range and one named `all` for their union, from the truth alone.

    Edges are compared in the truth's own precision. The ranges do not overlap.
    """
    depth = truth.astype(np.float32) if truth.dtype == np.float16 else truth
    valid = is_depth(depth)
    masks: dict[str, Mask] = {}
    for name, (near, far) in bins.bounds().items():
        below = depth <= far if name == bins.names[-1] else depth < far
        masks[name] = valid & (depth >= near) & below
    masks[ALL] = valid & (depth >= bins.edges[0]) & (depth <= bins.edges[-1])
    return masks
