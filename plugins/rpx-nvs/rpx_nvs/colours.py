"""Colour images between the forms that models give and metrics need; the one place it happens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.images import Colour, lay_over
from rpx_nvs.types import Colours, Image

LEVELS = 255
"""The largest 8-bit colour; 1.0 as a float."""

_SAME_LEVEL = 1e-4
"""Levels by which float32 may miss an 8-bit colour that it stands for: v / 255 does by 1.5e-5."""


def to_unit(rgb: Colours) -> NDArray[np.float64]:
    """The image in float64 from 0 to 1: `to_levels` over 255."""
    return to_levels(rgb) / np.float64(LEVELS)


def to_levels(rgb: Colours) -> Colours:
    """The image from 0 to 255, not rounded: uint8 as it is, floats as float64.

    A float that float32 cannot tell from an 8-bit colour is that colour: equal colours are equal
    in either form, to the last bit.
    """
    if rgb.dtype == np.uint8:
        return rgb
    levels: Colours = rgb.astype(np.float64) * LEVELS
    nearest = np.rint(levels)
    return np.where(np.abs(levels - nearest) < _SAME_LEVEL, nearest, levels)


def to_uint8(rgb: Colours) -> Image:
    """The image in 8 bits: floats are clamped to [0, 1], times 255, and rounded half up."""
    if rgb.dtype == np.uint8:
        return rgb
    eight: Image = np.floor(np.clip(rgb.astype(np.float64), 0, 1) * LEVELS + 0.5).astype(np.uint8)
    return eight


def composite(rgba: Colours, background: Colour) -> Colours:
    """An image with straight alpha over an 8-bit background: uint8 rounded, floats as float32."""
    if rgba.dtype == np.uint8:
        return lay_over(rgba, background)
    colours, alpha = rgba[..., :3].astype(np.float64), rgba[..., 3:].astype(np.float64)
    over: Colours = colours * alpha + np.divide(background, LEVELS) * (1 - alpha)
    return over.astype(np.float32)


def resize_colours(rgb: Colours, shape: tuple[int, int]) -> Colours:
    """The image at another (height, width), in its own dtype: Pillow's bilinear filter.

    Shrinking averages over the footprint of each pixel.
    """
    if rgb.shape[:2] == shape:
        return rgb
    from PIL import Image as Picture

    size = (shape[1], shape[0])
    if rgb.dtype == np.uint8:
        return np.array(Picture.fromarray(rgb).resize(size, Picture.Resampling.BILINEAR))
    planes = [
        Picture.fromarray(np.ascontiguousarray(rgb[..., channel], np.float32))
        for channel in range(rgb.shape[2])
    ]
    resized = [np.asarray(plane.resize(size, Picture.Resampling.BILINEAR)) for plane in planes]
    # The filter overshoots the range by rounding.
    clipped: Colours = np.clip(np.stack(resized, axis=-1), 0, 1)
    return clipped
