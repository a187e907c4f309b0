"""Bringing a predicted depth map to the size of the truth, without inventing depths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_depth.pixel_errors import is_depth

Image = NDArray[np.float32]


def resize_depth(depth: Image, shape: tuple[int, int]) -> Image:
    """The map at another (height, width): bilinear, as Pillow has it, between depths only.

    A pixel whose nearest source pixel is no depth (not finite, or not positive) keeps that value,
    and a depth is interpolated from the depths around it alone: holes neither bleed into surfaces
    nor move. Without holes this is Pillow's bilinear resize in float32, bit for bit, which also
    averages over the footprint when it shrinks.
    """
    if depth.shape == shape:
        return depth
    valid = is_depth(depth)
    if valid.all():
        return _bilinear(depth, shape)
    kept = nearest(depth, shape)
    weight = _bilinear(valid.astype(np.float32), shape)
    total = _bilinear(np.where(valid, depth, 0).astype(np.float32), shape)
    inside = is_depth(kept) & (weight > 0)
    return np.divide(total, weight, out=kept, where=inside)


def nearest(values: Image, shape: tuple[int, int]) -> Image:
    """The map at another size by its nearest pixel, pixel centres at half integers."""
    rows, columns = (
        (np.arange(new) * 2 + 1) * old // (2 * new)
        for new, old in zip(shape, values.shape, strict=True)
    )
    near: Image = values[rows[:, None], columns]
    return near


def _bilinear(values: Image, shape: tuple[int, int]) -> Image:
    from PIL import Image as Picture

    height, width = shape
    resized = Picture.fromarray(values).resize((width, height), Picture.Resampling.BILINEAR)
    return np.array(resized)
