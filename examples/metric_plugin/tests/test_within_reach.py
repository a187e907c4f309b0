"""The metric on numbers that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from rpx_reach.within_reach import WithinReach, WithinReachOptions

import rpx_core as rpx
from rpx_core.contracts import Undefined


def measure(truth: list[float], prediction: list[float]) -> object:
    metric = WithinReach(WithinReachOptions(reach_m=1.0, tolerance_m=0.05))
    state = metric.measure(
        rpx.Sample(id="one"),
        rpx.DepthGroundTruth(np.array([truth], np.float32)),
        rpx.DepthPrediction(np.array([prediction], np.float32)),
    )
    return state if isinstance(state, Undefined) else metric.result(state)


def test_pixels_within_reach_count_by_their_error() -> None:
    # Right, wrong by 0.1 m, abstained, out of reach, without truth.
    truth, prediction = [0.5, 0.5, 0.8, 2.0, 0.0], [0.52, 0.6, np.nan, 2.0, 0.5]
    assert measure(truth, prediction) == {"right": pytest.approx(1 / 3)}


def test_nothing_within_reach_is_undefined() -> None:
    assert isinstance(measure([2.0], [2.0]), Undefined)
