"""Predicted matches as models and files give them, checked before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import as_array
from rpx_core.errors import AdapterError, ModelError, kind_of
from rpx_pose.types import KeypointCorrespondencePrediction

Floats = NDArray[np.float64]

_FAR_PX = 1e9
_KEYS = ("points0", "points1", "scores")


def read_matches(answer: Any) -> KeypointCorrespondencePrediction:
    """Matches from a mapping with points0, points1 and scores, or a tuple in that order.

    None is no match. Raises ModelError for anything else.
    """
    if isinstance(answer, KeypointCorrespondencePrediction):
        return answer
    if answer is None:
        return KeypointCorrespondencePrediction(np.zeros((0, 2)), np.zeros((0, 2)))
    if isinstance(answer, Mapping):
        unknown = sorted(set(map(str, answer)) - set(_KEYS))
        if unknown or not {"points0", "points1"} <= set(answer):
            raise ModelError(
                f"points0, points1 and, if any, scores were expected; found "
                f"{', '.join(map(str, answer)) or 'nothing'}"
            )
        return KeypointCorrespondencePrediction(
            answer["points0"], answer["points1"], answer.get("scores")
        )
    if isinstance(answer, tuple) and len(answer) in (2, 3):
        return KeypointCorrespondencePrediction(*answer)
    raise ModelError(
        f"{kind_of(answer)} was returned; (points0, points1), with scores or without, a "
        "mapping of these, or None was expected"
    )


def check_matches(answer: KeypointCorrespondencePrediction) -> KeypointCorrespondencePrediction:
    """The matches as float64 arrays of their own, without those that lead nowhere.

    Left out is what is not finite, or beyond any image. Raises ModelError where shapes or lengths
    do not fit.
    """
    points0, points1 = _points(answer.points0, "points0"), _points(answer.points1, "points1")
    if len(points0) != len(points1):
        raise ModelError(f"{len(points0)} points0 but {len(points1)} points1: one each per match")
    # NaN compares as false.
    near = (np.abs(np.hstack([points0, points1])) < _FAR_PX).all(axis=1)
    scores = None
    if answer.scores is not None:
        scores = _numbers(answer.scores, "scores").reshape(-1)
        if len(scores) != len(points0):
            raise ModelError(f"{len(scores)} scores for {len(points0)} matches")
        scores = scores[near]
    return KeypointCorrespondencePrediction(points0[near], points1[near], scores)


def _points(value: Any, name: str) -> Floats:
    points = _numbers(value, name)
    if not points.size:
        return np.zeros((0, 2))
    if points.ndim != 2 or points.shape[1] != 2:
        raise ModelError(f"{name} has shape {points.shape}; (n, 2), x and y, was expected")
    return points


def _numbers(value: Any, name: str) -> Floats:
    try:
        return as_array(value, "an array of numbers").astype(np.float64)
    except AdapterError as error:
        raise ModelError(f"{name} is {error.message}", hint=error.hint) from error
