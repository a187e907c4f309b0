"""Colours for depths and depth errors, of maps or of single points."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rpx_core.legends import Colour, Legend, from_hex
from rpx_depth.pixel_errors import Depth, is_depth
from rpx_depth.types import DepthPair

Colours = NDArray[np.uint8]
"""RGB along the last axis, one colour per depth."""

MISSING = (64, 64, 64)
"""No measurement, or no answer: dark grey, in neither colour scale."""
ABSTAINED = (0, 114, 178)
"""Truth without an answer, among errors: blue, the one cool colour there."""
WORST_ERROR = 0.5
"""Relative errors from here on share the darkest colour."""

# Near is bright. Ten samples of matplotlib's viridis (CC0), which is even in lightness.
_DEPTH_STOPS = "fde725 b5de2b 6ece58 35b779 1f9e89 26828e 31688e 3e4989 482878 440154"
_ERROR_STOPS = "fcfbf7 fee090 f4823c b22222 500814"


def depth_legend(low: float, high: float) -> Legend:
    """How to read `paint_depth` with the same range."""
    labels = (low, math.sqrt(low * high), high)
    return Legend(
        scale=_stops(_DEPTH_STOPS),
        labels=tuple(f"{depth:.3g} m" for depth in labels),
        keys=(("no depth", MISSING),),
    )


def error_legend() -> Legend:
    """How to read `paint_error`."""
    return Legend(
        scale=_stops(_ERROR_STOPS),
        labels=("0 %", f"{50 * WORST_ERROR:g} %", f"≥ {100 * WORST_ERROR:g} %"),
        keys=(("no answer", ABSTAINED), ("no truth", MISSING)),
    )


def depth_range(pair: DepthPair) -> tuple[float, float]:
    """The middle 98 % of the true depths, or of the predicted ones where there is no truth."""
    for depth in (pair.truth, pair.prediction):
        known = depth[is_depth(depth)]
        if known.size:
            low, high = np.quantile(known.astype(np.float64), (0.01, 0.99))
            return float(low), float(high)
    return 1.0, 2.0


def paint_depth(depth: Depth, low: float, high: float) -> Colours:
    """Colours on a logarithmic scale: equal steps of colour are equal ratios."""
    known = is_depth(depth)
    span = max(np.log(high / low), 1e-6)
    places = np.log(np.where(known, depth, low).astype(np.float64) / low) / span
    return _paint(places, _DEPTH_STOPS, known)


def paint_error(pair: DepthPair) -> Colours:
    """Colours of the relative error; `ABSTAINED` where only the prediction is missing."""
    measured, answered = is_depth(pair.truth), is_depth(pair.prediction)
    both = measured & answered
    true = np.where(both, pair.truth, 1).astype(np.float64)
    error = np.abs(np.where(both, pair.prediction, 1).astype(np.float64) - true) / true
    colours = _paint(error / WORST_ERROR, _ERROR_STOPS, both)
    colours[measured & ~answered] = ABSTAINED
    return colours


def _paint(places: NDArray[np.float64], stops: str, known: NDArray[np.bool_]) -> Colours:
    """Colours of places 0 to 1 along the stops; `MISSING` where nothing is known."""
    colours = np.array(_stops(stops), dtype=np.float64)
    steps = np.linspace(0, len(colours) - 1, 256)
    table = np.stack(
        [np.interp(steps, np.arange(len(colours)), channel) for channel in colours.T], axis=-1
    )
    index = (np.clip(places, 0, 1) * 255).round().astype(np.intp)
    painted: Colours = table.round().astype(np.uint8)[index]
    painted[~known] = MISSING
    return painted


def _stops(stops: str) -> tuple[Colour, ...]:
    return tuple(from_hex(stop) for stop in stops.split())
