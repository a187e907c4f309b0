"""Colour words of what lies on a table, mostly of wood, and which pixels have its colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Words = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Channel = NDArray[np.floating[Any]]

WORDS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "white", "black")
"""Colour words; in maps of words 0 stands for none, then they count from 1."""

_HUES_DEG = (15.0, 40.0, 66.0, 170.0, 252.0, 310.0, 352.0)
"""Where one hue ends and the next begins, red to pink, and red again."""
_WOOD_DEG = (14.0, 40.0)
_VIVID, _VIVID_WOOD = 0.38, 0.72
_PALE, _DIM = 0.22, 0.5
_BRIGHT, _VISIBLE, _DARK = 0.62, 0.15, 0.2

_TABLE_SPREAD = 0.035


def name_table_colours(rgb: Image) -> Words:
    """The colour word of each pixel, 0 for the dull ones; brown counts as dull.

    By hue where saturated, orange only where it is too vivid for wood; white and black by value.
    """
    red, green, blue = (rgb[..., channel] / np.float32(255) for channel in range(3))
    value = np.maximum(np.maximum(red, green), blue)
    chroma = value - np.minimum(np.minimum(red, green), blue)
    saturation = chroma / np.maximum(value, 1e-3)
    hue = _hue_deg((red, green, blue), value, chroma)
    words = np.zeros(value.shape, np.uint8)
    wood = (hue > _WOOD_DEG[0]) & (hue < _WOOD_DEG[1])
    vivid = (value > _VISIBLE) & (saturation > np.where(wood, _VIVID_WOOD, _VIVID))
    words[vivid] = np.digitize(hue[vivid], _HUES_DEG) % len(_HUES_DEG) + 1
    words[(saturation < _PALE) & (value > _BRIGHT)] = WORDS.index("white") + 1
    words[(saturation < _DIM) & (value < _DARK)] = WORDS.index("black") + 1
    return words


def chromaticity(rgb: Image) -> NDArray[np.float32]:
    """Shares of red, green and blue (H, W, 3): the same in light and in shade."""
    colour = rgb.astype(np.float32) + 1
    shares: NDArray[np.float32] = colour / colour.sum(axis=2, keepdims=True)
    return shares


def find_table(chroma: NDArray[np.float32]) -> tuple[Mask, NDArray[np.float32]]:
    """The pixels coloured like most of the lower half, and that colour, as chromaticity."""
    lower = chroma[chroma.shape[0] // 2 :, ::2].reshape(-1, 3)
    colour: NDArray[np.float32] = np.median(lower, axis=0)
    table: Mask = np.abs(chroma - colour).max(axis=2) < _TABLE_SPREAD
    return table, colour


def _hue_deg(
    channels: tuple[Channel, ...],
    value: Channel,
    chroma: Channel,
) -> Channel:
    red, green, blue = channels
    scale = np.maximum(chroma, 1e-6)
    of_red, of_green, of_blue = (
        (green - blue) / scale % 6,
        (blue - red) / scale + 2,
        (red - green) / scale + 4,
    )
    hue: Channel = 60 * np.where(value == red, of_red, np.where(value == green, of_green, of_blue))
    return hue
