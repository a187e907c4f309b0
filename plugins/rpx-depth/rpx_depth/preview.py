"""Pictures of one depth prediction: the image, what was true, what came out, where it is off."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Picture
from rpx_core.legends import Legend
from rpx_depth.colours import (
    Colours,
    depth_legend,
    depth_range,
    error_legend,
    paint_depth,
    paint_error,
)
from rpx_depth.points import Points, is_inside, nearest_pixels
from rpx_depth.types import DepthPair

RADIUS_SHARE = 1 / 90
"""Radius of a point, as a share of the image's longer side: 3.5 pixels in 320x240."""

_RIM = (16, 16, 16)


def draw_maps(rgb: NDArray[np.uint8] | None, pair: DepthPair) -> list[Picture]:
    """The image (where there is one), truth and prediction in one colour scale, and the error."""
    pictures = [] if rgb is None else [Picture("rgb", rgb)]
    return [
        *pictures,
        *(Picture(caption, colours, legend) for caption, colours, legend in _paint_all(pair)),
    ]


def draw_points(rgb: NDArray[np.uint8], points: Points, pair: DepthPair) -> list[Picture]:
    """The image, then on its grey copy points in the colours of `draw_maps`.

    `pair` holds the depths (N,) at the points (N, 2). Points off the image are left out.
    """
    return [
        Picture("rgb", rgb),
        *(
            Picture(caption, _stamp(_faded(rgb), points, colours), legend)
            for caption, colours, legend in _paint_all(pair)
        ),
    ]


def _paint_all(pair: DepthPair) -> list[tuple[str, Colours, Legend]]:
    low, high = depth_range(pair)
    depths = depth_legend(low, high)
    return [
        ("ground truth", paint_depth(pair.truth, low, high), depths),
        ("prediction", paint_depth(pair.prediction, low, high), depths),
        ("error", paint_error(pair), error_legend()),
    ]


def _faded(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A grey copy of middling contrast, on which bright and dark points stand out."""
    grey = rgb.mean(axis=2, keepdims=True) * 0.45 + 70
    return np.repeat(grey.astype(np.uint8), 3, axis=2)


def _stamp(canvas: NDArray[np.uint8], points: Points, colours: Colours) -> NDArray[np.uint8]:
    """Discs with a dark rim, drawn over the canvas: first every rim, then every disc."""
    radius = max(1.5, max(canvas.shape[:2]) * RADIUS_SHARE)
    pixels = nearest_pixels(points)
    rims = np.broadcast_to(np.array(_RIM, np.uint8), colours.shape)
    for reach, paint in ((radius + 1, rims), (radius, colours)):
        span = range(-int(reach), int(reach) + 1)
        for offset in product(span, span):
            if np.hypot(*offset) <= reach:
                _put(canvas, pixels + np.array(offset), paint)
    return canvas


def _put(canvas: NDArray[np.uint8], pixels: Points, colours: Colours) -> None:
    shown = is_inside(pixels, canvas.shape[:2])
    columns, rows = pixels[shown].astype(np.intp).T
    canvas[rows, columns] = colours[shown]
