"""A legend below a picture: what its colours mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FONT_PX = 13
_LINE_PX = 18
_GAP_PX = 10
_MOST = 24


def add_legend(
    image: NDArray[np.uint8], entries: Sequence[tuple[str, tuple[float, ...]]]
) -> NDArray[np.uint8]:
    """The picture with a strip below it of names, each beside its colour; at most 24 of them."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_FONT_PX)
    shown = list(entries[:_MOST])
    if len(entries) > _MOST:
        shown.append((f"and {len(entries) - _MOST} more", (255.0, 255.0, 255.0)))
    width = image.shape[1]
    places, x, line = [], _GAP_PX, 0
    for name, _ in shown:
        needed = _FONT_PX + 4 + int(font.getlength(name)) + _GAP_PX
        if x > _GAP_PX and x + needed > width:
            x, line = _GAP_PX, line + 1
        places.append((x, line * _LINE_PX + 3))
        x += needed
    strip = Image.new("RGB", (width, (line + 1) * _LINE_PX + 4), (255, 255, 255))
    pen = ImageDraw.Draw(strip)
    for (name, colour), (left, top) in zip(shown, places, strict=True):
        red, green, blue = (round(value) for value in colour)
        box = (left, top + 1, left + _FONT_PX - 2, top + _FONT_PX - 1)
        pen.rectangle(box, fill=(red, green, blue), outline=(90, 90, 90))
        pen.text((left + _FONT_PX + 4, top - 1), name, font=font, fill=(30, 30, 30))
    return np.concatenate([image, np.asarray(strip)]) if shown else image
