"""Pictures of one segmentation: what was seen, what was true, what came out, where it is wrong."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from rpx_core.boundaries import label_boundary
from rpx_core.contracts import Picture
from rpx_core.legends import MAX_ENTRIES, Legend
from rpx_core.legends import Colour as Whole
from rpx_seg.assignment import assign
from rpx_seg.overlaps import VOID, Labels, overlap_segments

Colours = NDArray[np.uint8]
Colour = tuple[float, ...]

MISSED = (230, 159, 0)
"""True segment, answered as background: orange."""
INVENTED = (0, 114, 178)
"""Background, answered as a segment: blue."""
CONFUSED = (204, 51, 87)
"""One segment or class answered as another: red."""
LINE = (255, 255, 255)
VOID_COLOUR = (64, 64, 64)

ERRORS = Legend(
    keys=(
        ("missed", MISSED),
        ("invented", INVENTED),
        ("confused", CONFUSED),
        ("not judged", VOID_COLOUR),
    )
)
CLASS_ERRORS = Legend(
    keys=(("no answer", MISSED), ("another class", CONFUSED), ("not judged", VOID_COLOUR))
)
_BACKGROUND = (205.0, 205.0, 200.0)
_OPACITY = 0.6
_TABLE = 97
"""Colours before they repeat; a prime, so that ids a round number apart differ."""
_GOLDEN = 0.618033988749895


def draw_instances(
    rgb: NDArray[np.uint8] | None, truth: Labels, prediction: Labels
) -> list[Picture]:
    """The image, truth and prediction as overlays, and the wrong pixels.

    A predicted segment has the colour of the true one that it is assigned to; one without has a
    colour that no true segment has.
    """
    matched = _rename(truth, prediction)
    base = _grey(rgb, truth)
    ids = np.unique(np.concatenate([truth[truth > 0], matched[matched > 0]]))
    # Colours by rank: neighbours in the list are far apart in colour.
    places = [np.where(m > 0, np.searchsorted(ids, m) + 1, m) for m in (truth, matched)]
    return [
        *_first(rgb),
        Picture("ground truth", _overlay(base, places[0])),
        Picture("prediction", _overlay(base, places[1])),
        Picture("error", _paint_error(base, truth, matched), ERRORS),
    ]


def draw_classes(
    rgb: NDArray[np.uint8] | None,
    truth: Labels,
    prediction: Labels,
    names: Mapping[int, str] | None = None,
) -> list[Picture]:
    """The image, both class maps in the same colours and their names, and the wrong pixels."""
    base = _grey(rgb, truth)
    # Class 0 is a class like any other, so that void alone is below 1.
    shifted = [np.where(m == VOID, VOID, m + 1) for m in (truth, prediction)]
    used = [int(i) for i in np.unique(np.concatenate([truth, prediction])) if i != VOID]
    legend = Legend(
        keys=tuple(
            ((names or {}).get(i, str(i)), _whole(_class_colour(i + 1))) for i in used[:MAX_ENTRIES]
        )
    )
    return [
        *_first(rgb),
        Picture("ground truth", _overlay(base, shifted[0], _class_colour), legend),
        Picture("prediction", _overlay(base, shifted[1], _class_colour), legend),
        Picture("error", _paint_error(base, *shifted), CLASS_ERRORS),
    ]


def _first(rgb: NDArray[np.uint8] | None) -> list[Picture]:
    return [] if rgb is None else [Picture("rgb", rgb)]


def _rename(truth: Labels, prediction: Labels) -> Labels:
    """The prediction with the ids of the true segments that it is assigned to.

    Segments without one get ids above all true ones.
    """
    overlaps = overlap_segments(truth, prediction)
    pairs = assign(overlaps)
    ids = overlaps.prediction_ids
    first = int(truth.max(initial=0)) + 1
    names = first + np.arange(ids.size)
    names[overlaps.columns[pairs]] = overlaps.truth_ids[overlaps.rows[pairs]]
    renamed = np.zeros(prediction.shape, np.int64)
    answered = prediction > 0
    renamed[answered] = names[np.searchsorted(ids, prediction[answered])]
    return renamed


def _grey(rgb: NDArray[np.uint8] | None, truth: Labels) -> NDArray[np.float64]:
    """A pale grey picture (H, W, 1) to draw over; plain without an image."""
    if rgb is None:
        return np.full((*truth.shape, 1), 128.0)
    grey: NDArray[np.float64] = 40 + 0.75 * (rgb @ np.array([0.299, 0.587, 0.114]))[..., None]
    return grey


def _overlay(
    base: NDArray[np.float64], labels: Labels, colour: Callable[[int], Colour] | None = None
) -> Colours:
    paint = colour or (lambda label: _colour(label - 1))
    table = np.array([paint(place + 1) for place in range(_TABLE)])
    drawn = labels > 0
    colours = table[(labels - 1) % _TABLE]
    mixed = np.where(drawn[..., None], (1 - _OPACITY) * base + _OPACITY * colours, base)
    picture: Colours = mixed.round().astype(np.uint8)
    picture[labels == VOID] = VOID_COLOUR
    picture[label_boundary(labels)] = LINE
    return picture


def _paint_error(
    base: NDArray[np.float64],
    truth: Labels,
    prediction: Labels,
) -> Colours:
    picture = np.repeat((base * 0.6 + 90).round(), 3, axis=2).clip(0, 255).astype(np.uint8)
    wrong = (truth != prediction) & (truth != VOID)
    picture[wrong] = CONFUSED
    picture[wrong & (prediction <= 0)] = MISSED
    picture[wrong & (truth == 0)] = INVENTED
    picture[truth == VOID] = VOID_COLOUR
    return picture


def _class_colour(label: int) -> Colour:
    """That of a class id plus 1. Class 0, mostly the background, is pale: it says the least."""
    return _BACKGROUND if label == 1 else _colour(label - 1)


def _whole(colour: Colour) -> Whole:
    red, green, blue = (round(value) for value in colour)
    return red, green, blue


def _colour(place: int) -> Colour:
    """Hues by the golden angle, alternating in lightness and saturation."""
    lightness = (0.52, 0.66, 0.42)[place % 3]
    saturation = (0.85, 0.65)[place % 2]
    red, green, blue = colorsys.hls_to_rgb(place * _GOLDEN % 1.0, lightness, saturation)
    return 255 * red, 255 * green, 255 * blue
