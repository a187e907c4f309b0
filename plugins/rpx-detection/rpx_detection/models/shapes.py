"""Outlines of table-top things, and how well a region fits each."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rpx_detection.models.regions import Region
from rpx_detection.models.strong_colours import COLOURS, Codes

_DARK = 1 + COLOURS.index("black")

# Log of height / width, filled share of the box, width of the outline at the top fifth, the one
# below, and the bottom fifth, as shares of the box, and the share that is black. Medians over
# rendered objects; the scales are how far a typical one is off.
_OUTLINES: Mapping[str, tuple[float, ...]] = {
    "ball": (-0.03, 0.51, 0.73, 0.92, 0.81, 0.00),
    "book": (-0.42, 0.34, 0.65, 0.90, 0.58, 0.00),
    "bottle": (0.72, 0.54, 0.76, 0.94, 0.84, 0.01),
    "bowl": (-0.38, 0.63, 0.83, 0.98, 0.56, 0.00),
    "box": (0.19, 0.55, 0.94, 0.97, 0.82, 0.00),
    "can": (0.47, 0.47, 0.93, 0.94, 0.85, 0.00),
    "cone": (0.27, 0.37, 0.29, 0.43, 0.86, 0.00),
    "mug": (0.08, 0.61, 0.83, 0.96, 0.77, 0.13),
}
_SCALES = np.array([0.18, 0.09, 0.11, 0.08, 0.17, 0.12])
_MATRIX = np.array(list(_OUTLINES.values()))
SHAPES = tuple(_OUTLINES)


def shape_fits(region: Region, codes: Codes) -> dict[str, float]:
    """How well the region fits each shape, adding up to 1."""
    distances = np.square((_outline(region, codes) - _MATRIX) / _SCALES).sum(axis=1)
    weights = np.exp(-(distances - distances.min()) / 2)
    return dict(zip(SHAPES, (weights / weights.sum()).tolist(), strict=True))


def _outline(region: Region, codes: Codes) -> NDArray[np.float64]:
    x0, y0, x1, y1 = region.box
    inside = codes[y0:y1, x0:x1]
    own = inside == region.code
    height, width = own.shape
    bands = [_band_width(own, start) for start in (0.0, 0.2, 0.8)]
    dark = 0.0 if region.code == _DARK else float((inside == _DARK).mean())
    return np.array([math.log(height / width), own.mean(), *bands, dark])


def _band_width(own: NDArray[np.bool_], start: float) -> float:
    """How wide the outline is in the fifth of the box that starts there, as a share of the box."""
    height, width = own.shape
    top = int(start * height)
    columns = np.flatnonzero(own[top : max(int((start + 0.2) * height), top + 1)].any(axis=0))
    return float(columns[-1] - columns[0] + 1) / width if len(columns) else 0.0
