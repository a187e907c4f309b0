"""What the previews draw with: a picture that takes lines, dots and short texts."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

Floats = NDArray[np.float64]
Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

# Okabe and Ito: told apart without red and green too.
RIGHT: Colour = (0, 158, 115)
WRONG: Colour = (213, 94, 0)
UNKNOWN: Colour = (150, 150, 150)
INK: Colour = (40, 40, 40)
PAPER: Colour = (255, 255, 255)

TEXT_PX = 16
_LARGEST_SIDE = 800
_FAR = 1e5
"""Pixels beyond which Pillow's integers would overflow."""


class Canvas:
    """A picture under construction; places are x, y in pixels of the original image."""

    def __init__(self, image: Pixels) -> None:
        from PIL import Image, ImageDraw

        side = max(image.shape[:2])
        self._scale = min(1.0, _LARGEST_SIDE / side)
        picture = Image.fromarray(image)
        if self._scale < 1:
            height, width = (max(round(s * self._scale), 1) for s in image.shape[:2])
            picture = picture.resize((width, height), Image.Resampling.BILINEAR)
        self._picture: Image.Image = picture
        self._draw: ImageDraw.ImageDraw = ImageDraw.Draw(picture)

    def line(self, points: Floats, colour: Colour, *, width: int = 1) -> None:
        """Joined line segments through points (n, 2)."""
        places = self._places(points)
        if len(places) > 1:
            self._draw.line(places, fill=colour, width=width)

    def dot(self, x: float, y: float, colour: Colour, *, radius: int = 2) -> None:
        """A filled circle with a dark edge."""
        (place,) = self._places(np.array([[x, y]]))
        box = [place[0] - radius, place[1] - radius, place[0] + radius, place[1] + radius]
        self._draw.ellipse(box, fill=colour, outline=INK)

    def cross(self, x: float, y: float, colour: Colour, *, radius: int = 4) -> None:
        """A diagonal cross with a dark edge."""
        (place,) = self._places(np.array([[x, y]]))
        for shade, width in ((INK, 3), (colour, 1)):
            for way in (-1, 1):
                ends = [
                    (place[0] - radius, place[1] - way * radius),
                    (place[0] + radius, place[1] + way * radius),
                ]
                self._draw.line(ends, fill=shade, width=width)

    def text(self, x: float, y: float, text: str, *, colour: Colour = INK) -> None:
        """Text with its upper left corner at a place, on a light ground where colour is dark."""
        from PIL import ImageFont

        (place,) = self._places(np.array([[x, y]]))
        self._draw.text(
            place,
            text,
            fill=colour,
            font=ImageFont.load_default(TEXT_PX),
            stroke_width=1,
            stroke_fill=PAPER if colour == INK else INK,
        )

    def pixels(self) -> Pixels:
        """The picture."""
        return np.array(self._picture, dtype=np.uint8)

    def _places(self, points: Floats) -> list[tuple[float, float]]:
        scaled = (np.nan_to_num(points, nan=-_FAR) + 0.5) * self._scale - 0.5
        clipped = np.clip(scaled, -_FAR, _FAR)
        return [(float(x), float(y)) for x, y in clipped]


def hues(count: int) -> list[Colour]:
    """Bright colours, evenly round the circle of hues."""
    found = []
    for number in range(count):
        red, green, blue = colorsys.hsv_to_rgb(number / max(count, 1), 0.75, 1.0)
        found.append((round(255 * red), round(255 * green), round(255 * blue)))
    return found


def side_by_side(left: Pixels, right: Pixels, *, gap: int = 4) -> tuple[Pixels, int]:
    """Both images in one picture, tops aligned, and the column where the right one starts."""
    height = max(len(left), len(right))
    start = left.shape[1] + gap
    picture = np.full((height, start + right.shape[1], 3), 255, np.uint8)
    picture[: len(left), : left.shape[1]] = left
    picture[: len(right), start:] = right
    return picture, start
