"""Words of strong colours: which pixels a person would surely call red, and which nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Codes = NDArray[np.uint8]

_BITS = 5
"""Of each channel; colour words do not need more."""


@dataclass(frozen=True)
class _Range:
    """Hue in degrees (from may exceed to, over 360), least and most saturation, and brightness."""

    hue: tuple[float, float] = (0.0, 360.0)
    saturation: tuple[float, float] = (0.0, 1.0)
    brightness: tuple[float, float] = (0.0, 1.0)


# Orange and yellow are narrow: beside them lie all kinds of wood.
_RANGES: Mapping[str, _Range] = {
    "red": _Range((345, 12), (0.7, 1.0), (0.3, 1.0)),
    "orange": _Range((12, 33), (0.78, 1.0), (0.35, 1.0)),
    "yellow": _Range((38, 65), (0.68, 1.0), (0.35, 1.0)),
    "green": _Range((90, 165), (0.45, 1.0), (0.2, 1.0)),
    "blue": _Range((205, 255), (0.5, 1.0), (0.2, 1.0)),
    "purple": _Range((255, 310), (0.4, 1.0), (0.15, 1.0)),
    "pink": _Range((315, 345), (0.25, 0.7), (0.5, 1.0)),
    "white": _Range(saturation=(0.0, 0.12), brightness=(0.72, 1.0)),
    "black": _Range(brightness=(0.0, 0.16)),
}
COLOURS = tuple(_RANGES)
PALE = frozenset({"white", "black"})
"""Words that lights and shadows earn too."""


def colour_table() -> Codes:
    """The code of each quantised colour: 0 for none, else 1 + its index in `COLOURS`."""
    levels = (np.arange(2**_BITS) + 0.5) / 2**_BITS
    red, green, blue = np.meshgrid(levels, levels, levels, indexing="ij")
    brightness = np.maximum(np.maximum(red, green), blue)
    spread = brightness - np.minimum(np.minimum(red, green), blue)
    safe = np.where(spread > 0, spread, 1.0)
    sector = np.select(
        [brightness == red, brightness == green],
        [(green - blue) / safe % 6, (blue - red) / safe + 2],
        (red - green) / safe + 4,
    )
    hue, saturation = 60 * sector, spread / brightness
    codes = np.zeros(red.shape, np.uint8)
    for code, limits in enumerate(_RANGES.values(), 1):
        start, end = limits.hue
        inside = (hue >= start) & (hue < end) if start < end else (hue >= start) | (hue < end)
        inside &= (saturation >= limits.saturation[0]) & (saturation <= limits.saturation[1])
        inside &= (brightness >= limits.brightness[0]) & (brightness <= limits.brightness[1])
        codes[inside] = code
    return codes.reshape(-1)


def name_strong_colours(rgb: Image, table: Codes) -> Codes:
    """The colour code (H, W) of every pixel."""
    red, green, blue = (rgb[..., channel].astype(np.uint16) >> 8 - _BITS for channel in range(3))
    codes: Codes = table[red << 2 * _BITS | green << _BITS | blue]
    return codes
