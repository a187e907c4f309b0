"""Pictures of one synthesised view: given, true, and made, and where it is off."""

from __future__ import annotations

import numpy as np

from rpx_core.contracts import Picture
from rpx_core.legends import Legend, from_hex
from rpx_nvs.colours import LEVELS, to_uint8, to_unit
from rpx_nvs.regions import regions_of
from rpx_nvs.types import Image, NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction

WORST_ERROR = 0.375
"""Mean absolute errors from here on share the darkest colour; 96 of 255 levels."""
UNSCORED = (64, 64, 64)
"""Pixels that do not count: dark grey, not in the colour scale."""

_ERROR_STOPS = ("fcfbf7", "fee090", "f4823c", "b22222", "500814")
_HIDDEN_TINT = (0, 114, 178)
"""Mixed into what no source view sees: blue, the one cool colour of the map."""
_TINT_SHARE = 0.45


def draw_preview(
    source: Image | None,
    truth: NovelViewSynthesisGroundTruth,
    prediction: NovelViewSynthesisPrediction,
) -> list[Picture]:
    """The source (where there is one), target, prediction, and the error.

    The error is the mean absolute difference over channels, light to dark red; what no source view
    sees is tinted blue.
    """
    pictures = [] if source is None else [Picture("source", source)]
    return [
        *pictures,
        Picture("target", truth.rgb),
        Picture("prediction", to_uint8(prediction.rgb)),
        Picture("error", _paint_error(truth, prediction), _legend(truth)),
    ]


def _legend(truth: NovelViewSynthesisGroundTruth) -> Legend:
    most = 255 * WORST_ERROR
    keys = [("seen by no source", _HIDDEN_TINT)] if truth.seen is not None else []
    if regions_of(truth).scored is not None:
        keys.append(("not judged", UNSCORED))
    return Legend(
        scale=tuple(from_hex(stop) for stop in _ERROR_STOPS),
        labels=("0", f"{most / 2:.0f}", f"≥ {most:.0f} of 255"),
        keys=tuple(keys),
    )


def _paint_error(
    truth: NovelViewSynthesisGroundTruth, prediction: NovelViewSynthesisPrediction
) -> Image:
    error = np.abs(to_unit(prediction.rgb) - to_unit(truth.rgb)).mean(axis=2)
    stops = np.array([tuple(bytes.fromhex(stop)) for stop in _ERROR_STOPS], np.float64)
    places = np.minimum(error / WORST_ERROR, 1) * (len(stops) - 1)
    channels = [np.interp(places, np.arange(len(stops)), channel) for channel in stops.T]
    picture = np.stack(channels, axis=-1)
    regions = regions_of(truth)
    if regions.disoccluded is not None:
        tint = np.array(_HIDDEN_TINT, np.float64) * _TINT_SHARE
        picture[regions.disoccluded] *= 1 - _TINT_SHARE
        picture[regions.disoccluded] += tint
    if regions.scored is not None:
        picture[~regions.scored] = UNSCORED
    return to_uint8(picture / LEVELS)
