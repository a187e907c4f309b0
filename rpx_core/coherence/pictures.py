"""Pictures of two edge maps over the image that they belong to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.boundaries import Mask, dilate
from rpx_core.contracts import Picture
from rpx_core.legends import Legend

Colours = NDArray[np.uint8]

# Okabe and Ito's palette: told apart by colour-blind people too, and all bright on a dark image.
AGREED = (255, 255, 255)
MASKS_ALONE = (230, 159, 0)
DEPTH_ALONE = (86, 180, 233)
UNJUDGED = (128, 128, 128)

LEGEND = Legend(
    keys=(
        ("agree", AGREED),
        ("masks alone", MASKS_ALONE),
        ("depth alone", DEPTH_ALONE),
        ("not judged", UNJUDGED),
    )
)

_DIMMED = 0.4
_NO_IMAGE = 24
_WIDTH_OF_A_LINE_PX = 480
"""Pages show pictures at most this wide: lines of wider ones grow so that they survive that."""


def draw_edges(
    rgb: Colours | None, agreed: Mask, masks_alone: Mask, depth_alone: Mask, unjudged: Mask
) -> list[Picture]:
    """The image, where there is one of that size, and the edges in colours over it, dimmed."""
    pictures = []
    canvas = np.full((*agreed.shape, 3), _NO_IMAGE, np.uint8)
    if rgb is not None and rgb.shape == canvas.shape:
        pictures.append(Picture("rgb", rgb))
        canvas = (rgb * _DIMMED).astype(np.uint8)
    steps = agreed.shape[1] // (2 * _WIDTH_OF_A_LINE_PX)
    # The last wins where grown lines meet: what is wrong must be seen.
    for edges, colour in (
        (unjudged, UNJUDGED),
        (agreed, AGREED),
        (masks_alone, MASKS_ALONE),
        (depth_alone, DEPTH_ALONE),
    ):
        canvas[dilate(edges, steps)] = colour
    return [*pictures, Picture("edges", canvas, LEGEND)]
