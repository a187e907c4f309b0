"""Pictures of one depth prediction: the image, what was true, what came out, where it is off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Picture
from rpx_depth.pixel_errors import Depth, is_depth

Colours = NDArray[np.uint8]

MISSING = (64, 64, 64)
"""No measurement, or no answer: dark grey, in neither colour scale."""
ABSTAINED = (0, 114, 178)
"""A truth pixel without an answer, in the error map: blue, the one cool colour there."""
WORST_ERROR = 0.5
"""Relative errors from here on share the darkest colour."""

# Near is bright. Ten samples of matplotlib's viridis (CC0), which is even in lightness.
_DEPTH_STOPS = (
    "fde725 b5de2b 6ece58 35b779 1f9e89 26828e 31688e 3e4989 482878 440154"
)  # fmt: skip
_ERROR_STOPS = "fcfbf7 fee090 f4823c b22222 500814"


def draw_preview(rgb: NDArray[np.uint8] | None, truth: Depth, prediction: Depth) -> list[Picture]:
    """The image (where there is one), truth and prediction in one colour scale, and the error.

    The scale is logarithmic, over the middle 98 % of the true depths: equal steps of colour are
    equal ratios.
    """
    low, high = _depth_range(truth, prediction)
    pictures = [] if rgb is None else [Picture("rgb", rgb)]
    return [
        *pictures,
        Picture("ground truth", _paint_depth(truth, low, high)),
        Picture("prediction", _paint_depth(prediction, low, high)),
        Picture("error", _paint_error(truth, prediction)),
    ]


def _depth_range(truth: Depth, prediction: Depth) -> tuple[float, float]:
    for depth in (truth, prediction):
        known = depth[is_depth(depth)]
        if known.size:
            low, high = np.quantile(known.astype(np.float64), (0.01, 0.99))
            return float(low), float(high)
    return 1.0, 2.0


def _paint_depth(depth: Depth, low: float, high: float) -> Colours:
    known = is_depth(depth)
    span = max(np.log(high / low), 1e-6)
    places = np.log(np.where(known, depth, low).astype(np.float64) / low) / span
    return _paint(places, _DEPTH_STOPS, known)


def _paint_error(truth: Depth, prediction: Depth) -> Colours:
    measured, answered = is_depth(truth), is_depth(prediction)
    both = measured & answered
    true = np.where(both, truth, 1).astype(np.float64)
    error = np.abs(np.where(both, prediction, 1).astype(np.float64) - true) / true
    picture = _paint(error / WORST_ERROR, _ERROR_STOPS, both)
    picture[measured & ~answered] = ABSTAINED
    return picture


def _paint(places: NDArray[np.float64], stops: str, known: NDArray[np.bool_]) -> Colours:
    """Colours of places 0 to 1 along the stops; `MISSING` where nothing is known."""
    colours = np.array([tuple(bytes.fromhex(stop)) for stop in stops.split()], dtype=np.float64)
    steps = np.linspace(0, len(colours) - 1, 256)
    table = np.stack(
        [np.interp(steps, np.arange(len(colours)), channel) for channel in colours.T], axis=-1
    )
    index = (np.clip(places, 0, 1) * 255).round().astype(np.intp)
    picture: Colours = table.round().astype(np.uint8)[index]
    picture[~known] = MISSING
    return picture
