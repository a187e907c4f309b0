"""What is an image, among the things that models and functions return."""

from __future__ import annotations

from typing import Any

import numpy as np

from rpx_core.adapters import array_hint
from rpx_core.errors import ModelError, kind_of
from rpx_core.images import Colour
from rpx_nvs.colours import LEVELS, composite, to_uint8
from rpx_nvs.types import Colours, Image

_BRIGHTEST = 2.0
"""The brightest colour that a float image may overshoot to; above, its floats are levels."""
_ROUNDING = 1e-6
"""Floats beyond [0, 1] by the rounding of an interpolation are moved to its ends."""


def check_colours(rgb: Any, background: Colour | None) -> Colours:
    """An own copy of an image (H, W, 3): uint8, or float32 in [0, 1].

    An alpha channel is laid over `background`. Raises ModelError, its message to follow a name,
    for everything else; values are never rescaled or clipped in silence.
    """
    array = _check_shape(rgb, channels=(3, 4))
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise ModelError(
            f"has dtype {array.dtype}; uint8, or floats from 0 to 1, were expected",
            hint="clip to 0..255 and convert with .astype(numpy.uint8)",
        )
    if array.dtype.kind == "f":
        _check_range(array, slack=_ROUNDING)
    if array.shape[2] == 4:
        if background is None:
            raise ModelError(
                "has an alpha channel, whose background nobody declared",
                hint="--set options.background='[255,255,255]', or return RGB",
            )
        return composite(np.clip(array, 0, 1) if array.dtype.kind == "f" else array, background)
    if array.dtype == np.uint8:
        return np.array(array, order="C", copy=True, subok=False)
    return np.clip(array, 0, 1).astype(np.float32)


def quantise(rgb: Any) -> Image:
    """The 8-bit image that a function meant: levels from 0 to 255, or floats from 0 to 1.

    What lies outside is clipped, then rounded half up. Floats are levels where any is above 2: no
    picture of levels is that dark throughout, and no overshoot of colours that bright. Values a
    whole range beyond either end are in another unit, and NaN is in none: ModelError.
    """
    array = _check_shape(rgb, channels=(3,))
    if array.dtype == np.uint8:
        return np.array(array, order="C", copy=True)
    if array.dtype.kind not in "iuf":
        raise ModelError(f"has dtype {array.dtype}; numbers were expected")
    if array.dtype.kind == "f" and not array.max() > _BRIGHTEST:
        _check_range(array, slack=1.0)
        return to_uint8(array)
    if not (np.isfinite(array).all() and array.min() >= -LEVELS and array.max() <= 2 * LEVELS):
        raise ModelError(
            f"holds values from {array.min()} to {array.max()}; 0 to 255 were expected",
            hint="bring it to 8 bits",
        )
    return np.floor(np.clip(array, 0, LEVELS) + 0.5).astype(np.uint8)


def _check_shape(rgb: Any, *, channels: tuple[int, ...]) -> Colours:
    if not isinstance(rgb, np.ndarray):
        raise ModelError(
            f"is {kind_of(rgb)}; a numpy array (H, W, 3) was expected",
            hint=array_hint(rgb, ".permute(1, 2, 0).cpu().numpy()"),
        )
    if rgb.ndim != 3 or rgb.shape[2] not in channels or rgb.size == 0:
        first = rgb.ndim == 3 and rgb.shape[0] in channels
        raise ModelError(
            f"has shape {rgb.shape}; (H, W, 3) was expected",
            hint="channels come last: .transpose(1, 2, 0)" if first else None,
        )
    return rgb


def _check_range(array: Colours, *, slack: float) -> None:
    # Not min() and max() alone: NaN compares as neither.
    if not np.isfinite(array).all():
        raise ModelError("holds NaN or infinity; every pixel needs a colour")
    low, high = float(array.min()), float(array.max())
    if low < -slack or high > 1 + slack:
        raise ModelError(
            f"holds floats from {low:.4g} to {high:.4g}; floats are colours from 0 to 1",
            hint="divide by 255, return uint8, or clip what overshoots",
        )
