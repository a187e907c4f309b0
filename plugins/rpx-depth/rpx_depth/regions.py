"""Where a depth protocol evaluates: the crop and the depth range, decided by the truth alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.pixel_errors import Depth, Mask, is_depth

# Fractions of height and width (first row, end row, first column, end column), truncated to pixels.
_FRACTIONS = {
    "garg": (0.40810811, 0.99189189, 0.03594771, 0.96405229),
    "eigen": (0.3324324, 0.91351351, 0.0359477, 0.96405229),
}
_NYU_SHAPE = (480, 640)
_NYU_WINDOW = (slice(45, 471), slice(41, 601))

Crop = Literal["none", "garg", "eigen", "nyu-eigen"]
"""Evaluation crops: whole image; KITTI after Garg et al.; KITTI and NYU Depth v2 after Eigen et al.
The KITTI crops scale with the image; the NYU crop exists at 480x640 only."""
CROPS: tuple[Crop, ...] = get_args(Crop)


@dataclass(frozen=True)
class Region:
    """The evaluated pixels: a crop, and a depth range in metres with both ends included."""

    crop: Crop = "none"
    min_depth: float | None = None
    max_depth: float | None = None

    def __post_init__(self) -> None:
        if self.crop not in CROPS:
            known = ", ".join(CROPS)
            raise ConfigError(f"unknown depth crop {self.crop!r}", hint=f"one of {known}")
        low = 0.0 if self.min_depth is None else self.min_depth
        high = math.inf if self.max_depth is None else self.max_depth
        finite = self.max_depth is None or math.isfinite(self.max_depth)
        if not (0 <= low < high and finite):
            raise ConfigError(
                f"depth range {self.min_depth} to {self.max_depth} m is empty or not finite",
                hint="0 <= min_depth < max_depth, in metres",
            )


def crop_window(crop: Crop, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Rows and columns of a crop; raises MetricError when the crop does not exist at that size."""
    if crop == "none":
        return slice(None), slice(None)
    if len(shape) != 2:
        raise MetricError(f"crop {crop} needs a depth map of height x width, got shape {shape}")
    if crop == "nyu-eigen":
        if shape != _NYU_SHAPE:
            raise MetricError(
                f"crop nyu-eigen is defined for 480x640 depth, got {shape[0]}x{shape[1]}",
                hint="evaluate at the sensor's resolution, or use crop none",
            )
        return _NYU_WINDOW
    height, width = shape
    top, bottom, left, right = _FRACTIONS[crop]
    return (
        slice(int(top * height), int(bottom * height)),
        slice(int(left * width), int(right * width)),
    )


def valid_truth(truth: Depth, region: Region) -> Mask:
    """True where the truth is a depth inside the region.

    Bounds are compared in the truth's own precision, so a float32 depth stored as 0.7 m is inside
    `min_depth=0.7`. Depths outside the range are left out, never clipped into it.
    """
    valid = is_depth(truth)
    depth = truth.astype(np.float32) if truth.dtype == np.float16 else truth
    if region.min_depth is not None:
        valid &= depth >= region.min_depth
    if region.max_depth is not None:
        valid &= depth <= region.max_depth
    if region.crop == "none":
        return valid
    window = crop_window(region.crop, truth.shape)
    inside = np.zeros(truth.shape, dtype=np.bool_)
    inside[window] = valid[window]
    return inside
