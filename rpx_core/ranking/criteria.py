"""What counts as found: overlap thresholds, size ranges, caps, and the order of what is equal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ConfigError

COCO_THRESHOLDS = tuple(np.linspace(0.5, 0.95, 10).tolist())
"""The ten IoU thresholds; the ninth is 0.8999999999999999, as COCO's own arithmetic has it."""
COCO_CAPS = (1, 10, 100)
ALMOST_ONE = 1 - 1e-10
"""COCO's slack: an overlap of 1 may come out a rounding error short of it."""


def reaches(overlap: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Whether overlaps count as a match: at least the threshold, which is never above 1 - 1e-10."""
    return overlap >= min(threshold, ALMOST_ONE)


@dataclass(frozen=True)
class SizeRanges:
    """Ranges of object area in square pixels; the first is that of all objects.

    An area on the edge between two ranges belongs to the upper one, or to both where `shared`.
    """

    names: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    shared: bool = False

    def __post_init__(self) -> None:
        if len(self.names) != len(self.bounds) or len(set(self.names)) < len(self.names):
            raise ConfigError(f"size ranges {self.names} have bounds {self.bounds}")
        for name, (low, high) in zip(self.names, self.bounds, strict=True):
            if not 0 <= low < high:
                raise ConfigError(f"size range {name}: 0 <= low < high expected, not {low}, {high}")

    def outside(self, areas: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which areas (N,) lie outside each range, as (ranges, N)."""
        low, high = (np.array(ends)[:, None] for ends in zip(*self.bounds, strict=True))
        above = areas > high if self.shared else (areas >= high) & np.isfinite(high)
        return np.asarray((areas < low) | above)


EVERY_SIZE = SizeRanges(("all",), ((0.0, math.inf),))
COCO_SIZES = SizeRanges(
    ("all", "small", "medium", "large"),
    ((0.0, 1e10), (0.0, 32.0**2), (32.0**2, 96.0**2), (96.0**2, 1e10)),
    shared=True,
)
"""COCO's own: 32² is small and medium, and nothing is larger than 10¹⁰."""
SIZES = SizeRanges(
    COCO_SIZES.names,
    ((0.0, math.inf), (0.0, 32.0**2), (32.0**2, 96.0**2), (96.0**2, math.inf)),
)


@dataclass(frozen=True)
class Criteria:
    """How the detections of one image and class are matched with its objects.

    Detections are matched from the highest score down, at most `cap` of them (None: all), against
    every IoU threshold. Where scores or overlaps are equal, `ties` decides: `given` keeps the
    order of the input, as COCO does; `geometry` goes by positions, so that the order of the input
    cannot move a number.
    """

    thresholds: tuple[float, ...] = COCO_THRESHOLDS
    sizes: SizeRanges = SIZES
    cap: int | None = COCO_CAPS[-1]
    ties: Literal["given", "geometry"] = "geometry"
