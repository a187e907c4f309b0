"""Drawing boxes with captions on a picture, large enough to be read."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rpx_core.legends import Legend
from rpx_detection.boxes import Boxes

if TYPE_CHECKING:
    from PIL import ImageDraw, ImageFont

Colour = tuple[int, int, int]
Image = NDArray[np.uint8]
_Corners = tuple[float, float, float, float]

RIGHT: Colour = (0, 158, 115)
MISSED: Colour = (230, 159, 0)
WRONG: Colour = (213, 94, 0)
UNCOUNTED: Colour = (150, 150, 150)
ERRORS = Legend(
    keys=(("right", RIGHT), ("missed", MISSED), ("wrong", WRONG), ("not counted", UNCOUNTED))
)
# Okabe and Ito's colours, which most kinds of colour vision tell apart.
_PALETTE: tuple[Colour, ...] = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 180, 233),
    (213, 94, 0),
    (240, 228, 66),
    (148, 103, 189),
)
_WIDTH = 640
_FONT_PX = 15
_LINE_PX = 2
_PAD_PX = 3


@dataclass(frozen=True)
class Mark:
    """A box with a caption and a colour; a dashed one stands for what is not there."""

    box: tuple[float, ...]
    caption: str
    colour: Colour
    dashed: bool = False


def colour_of(label: str) -> Colour:
    """The colour of a class: the same in every picture of every run."""
    return _PALETTE[zlib.crc32(label.encode()) % len(_PALETTE)]


def draw(rgb: Image, marks: Sequence[Mark], title: str = "") -> Image:
    """The picture, enlarged by a whole factor to about 640 pixels, with its marks.

    Captions stand above their boxes, or below or inside where that is taken.
    """
    from PIL import Image as Picture
    from PIL import ImageDraw, ImageFont

    height, width = rgb.shape[:2]
    factor = max(1, round(_WIDTH / max(width, height)))
    size = (width * factor, height * factor)
    canvas = Picture.fromarray(rgb).resize(size, Picture.Resampling.BICUBIC)
    pen = ImageDraw.Draw(canvas)
    font = ImageFont.load_default(_FONT_PX)
    # Small boxes last, so that large ones do not cover their captions.
    for mark in sorted(marks, key=_extent, reverse=True):
        corners = _corners(mark, factor, size)
        if mark.dashed:
            _draw_dashes(pen, corners, mark.colour)
        else:
            pen.rectangle(corners, outline=mark.colour, width=_LINE_PX)
    tags = [_Tag(mark.caption, _corners(mark, factor, size), mark.colour) for mark in marks]
    written: list[_Corners] = []
    for tag in [_Tag(title, (0, 0, 0, 0), (40, 40, 40)), *tags]:
        if tag.text:
            width = int(np.ceil(pen.textlength(tag.text, font=font))) + 2 * _PAD_PX
            written.append(_place(tag, width, size, written))
            _write(pen, font, tag, written[-1])
    return np.array(canvas)


@dataclass(frozen=True)
class _Tag:
    """A caption and the corners of the box it is about."""

    text: str
    corners: _Corners
    colour: Colour


def _corners(mark: Mark, factor: int, size: tuple[int, int]) -> _Corners:
    """The mark's corners in the enlarged picture, inside it and never inverted."""
    x0, y0, x1, y1 = (value * factor for value in mark.box)
    left, right = (min(max(x, 0), size[0] - 1) for x in (min(x0, x1), max(x0, x1) - 1))
    top, bottom = (min(max(y, 0), size[1] - 1) for y in (min(y0, y1), max(y0, y1) - 1))
    return left, top, max(left, right), max(top, bottom)


def _extent(mark: Mark) -> float:
    x0, y0, x1, y1 = mark.box
    return abs((x1 - x0) * (y1 - y0))


def _draw_dashes(pen: ImageDraw.ImageDraw, corners: _Corners, colour: Colour) -> None:
    left, top, right, bottom = corners
    dash = 6
    for start in np.arange(left, right, 2 * dash):
        for y in (top, bottom):
            pen.line((start, y, min(start + dash, right), y), fill=colour, width=_LINE_PX)
    for start in np.arange(top, bottom, 2 * dash):
        for x in (left, right):
            pen.line((x, start, x, min(start + dash, bottom)), fill=colour, width=_LINE_PX)


def _place(tag: _Tag, width: int, size: tuple[int, int], written: Sequence[_Corners]) -> _Corners:
    """Where a caption stands: above its box, below it, or inside, the first that is free."""
    left, top, _, bottom = tag.corners
    height = _FONT_PX + 2 * _PAD_PX
    x = max(0.0, min(left, size[0] - width))
    places = [
        (x, y, x + width, y + height)
        for y in (top - height, bottom + 1, top + 1, bottom - height)
        if 0 <= y <= size[1] - height
    ]
    free = [place for place in places if not any(_overlap(place, other) for other in written)]
    return (free or places or [(x, 0.0, x + width, float(height))])[0]


def _overlap(first: _Corners, second: _Corners) -> bool:
    across = first[0] < second[2] and second[0] < first[2]
    return across and first[1] < second[3] and second[1] < first[3]


def _write(
    pen: ImageDraw.ImageDraw,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    tag: _Tag,
    place: _Corners,
) -> None:
    pen.rectangle(place, fill=tag.colour)
    light = sum(tag.colour) > 3 * 140
    fill = (0, 0, 0) if light else (255, 255, 255)
    pen.text((place[0] + _PAD_PX, place[1]), tag.text, font=font, fill=fill)


def as_box(row: Boxes) -> tuple[float, ...]:
    """One row of boxes, as a mark holds it."""
    return tuple(row.tolist())
