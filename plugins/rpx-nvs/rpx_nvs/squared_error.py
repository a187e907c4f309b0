"""Squared colour errors and what PSNR makes of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_nvs.colours import to_levels, to_uint8
from rpx_nvs.types import Colours


def squared_errors(first: Colours, second: Colours) -> NDArray[Any]:
    """Squared difference of each pixel (H, W), summed over channels, in squared 8-bit levels.

    The float rule: nothing is rounded, floats count 255 times their value.
    """
    return _square_and_sum(np.subtract(to_levels(first), to_levels(second), dtype=np.float64))


def squared_errors_8bit(first: Colours, second: Colours) -> NDArray[Any]:
    """The same as whole numbers, both images rounded to 8 bits first."""
    return _square_and_sum(np.subtract(to_uint8(first), to_uint8(second), dtype=np.int32))


def _square_and_sum(difference: NDArray[Any]) -> NDArray[Any]:
    difference *= difference
    # Plane by plane: a reduction along an axis of three is several times slower.
    total = difference[..., 0].copy()
    for channel in range(1, difference.shape[2]):
        total += difference[..., channel]
    return total


def psnr(mean_squared_error: float, peak: float) -> float:
    """10·log10(peak² / mean squared error) in dB; infinite for equal images."""
    if mean_squared_error == 0:
        return math.inf
    return 10 * math.log10(peak**2 / mean_squared_error)
