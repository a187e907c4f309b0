"""Matches as lines between two images side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Picture, Sample
from rpx_core.legends import Legend
from rpx_pose.matching import GATE_PX, TrueMatches, judge_matches
from rpx_pose.previews.canvas import RIGHT, UNKNOWN, WRONG, Canvas, Colour, hues, side_by_side
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    PairQuery,
)

Floats = NDArray[np.float64]

SHOWN_TRUTH, SHOWN_MATCHES = 40, 120
LIMIT_PX = 3.0
JUDGED = Legend(
    keys=(("within 3 px", RIGHT), ("wrong", WRONG), ("not judged", UNKNOWN)),
)


def draw_match_lines(
    sample: Sample,
    truth: KeypointCorrespondenceGroundTruth,
    prediction: KeypointCorrespondencePrediction,
) -> list[Picture]:
    """Both images; visible true matches; predicted ones: right, wrong, or not judged (grey).

    Right is within 3 px; a few dozen of many are drawn, evenly chosen.
    """
    query = sample.query
    if sample.rgb is None or not isinstance(query, PairQuery):
        return []
    plain, start = side_by_side(sample.rgb, query.rgb_b)
    visible = truth.visible()
    true = _some(np.hstack([truth.points0, truth.points1])[visible], SHOWN_TRUTH)
    true_canvas = Canvas(plain)
    for match, colour in zip(true, hues(len(true)), strict=True):
        _draw_match(true_canvas, match, start, colour)
    found = judge_matches(
        TrueMatches(truth.points0, truth.points1, visible),
        prediction.points0,
        prediction.points1,
        gate=GATE_PX,
    )
    judged, right = found.is_judged, found.errors <= LIMIT_PX
    canvas = Canvas(plain)
    matches = np.hstack([prediction.points0, prediction.points1])
    for kept, colour in (
        (~judged, UNKNOWN),
        (judged & right, RIGHT),
        (judged & ~right, WRONG),
    ):
        for match in _some(matches[kept], SHOWN_MATCHES):
            _draw_match(canvas, match, start, colour)
    return [
        Picture("both images", Canvas(plain).pixels()),
        Picture("true matches", true_canvas.pixels()),
        Picture("predicted matches", canvas.pixels(), JUDGED),
    ]


def _draw_match(canvas: Canvas, match: Floats, start: int, colour: Colour) -> None:
    x0, y0, x1, y1 = match
    canvas.line(np.array([[x0, y0], [start + x1, y1]]), colour)
    canvas.dot(x0, y0, colour)
    canvas.dot(start + x1, y1, colour)


def _some(rows: Floats, count: int) -> Floats:
    if len(rows) <= count:
        return rows
    return rows[np.linspace(0, len(rows) - 1, count).round().astype(np.intp)]
