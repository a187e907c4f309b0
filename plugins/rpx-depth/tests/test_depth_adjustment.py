"""What happens to predictions after the fit: the floor, the clamp, and what they count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import ConfigError
from rpx_depth.adjustment import Adjustment, clamp_depth, floor_depth
from rpx_depth.pixel_errors import measure_errors, standard_set
from rpx_depth.regions import Region, valid_truth
from rpx_depth.types import DepthPair


def test_far_truth_is_left_out_not_clipped():
    truth, prediction = np.array([10.0, 100.0]), np.array([10.0, 70.0])
    region = Region("none", max_depth=80.0)
    kept = np.where(valid_truth(truth, region), truth, 0)
    sums = measure_errors(clamp_depth(prediction, region).depth, kept)
    assert (sums.truth_pixels, standard_set(sums)["absrel"]) == (1, 0.0)


def test_clamping_moves_answers_only():
    prediction = np.array([0.5, 2.0, 90.0, np.nan, np.inf, -np.inf, 0.0, -3.0])
    clamped = clamp_depth(prediction, Region("none", 1.0, 80.0)).depth
    np.testing.assert_array_equal(clamped, [1.0, 2.0, 80.0, np.nan, np.inf, -np.inf, 0.0, -3.0])
    assert prediction[0] == 0.5


predictions = arrays(np.float32, 12, elements=st.floats(-5, 100, width=32) | st.just(np.nan))


@given(predictions)
def test_clamping_never_changes_coverage(prediction):
    region = Region("none", 0.5, 80.0)
    truth = np.full(prediction.shape, 2.0)
    before = measure_errors(prediction, truth)
    after = measure_errors(clamp_depth(prediction, region).depth, truth)
    assert (after.pixels, after.truth_pixels) == (before.pixels, before.truth_pixels)


def test_clamping_without_a_range_returns_the_prediction():
    prediction = np.array([1.0, np.nan])
    assert clamp_depth(prediction, Region()).depth is prediction


def test_zero_prediction_abstains_or_is_floored_and_counted():
    truth, prediction = np.array([1.0, 2.0, 4.0, 4.0]), np.array([0.0, 2.0, 4.0, 4.0])
    abstained = standard_set(measure_errors(prediction, truth))
    assert (abstained["coverage"], abstained["delta1_of_truth"]) == (0.75, 0.75)
    floored = floor_depth(prediction, 0.001)
    assert floored.facts == {"floored": 1}
    values = standard_set(measure_errors(floored.depth, truth))
    assert (values["silog"], values["coverage"]) == (pytest.approx(2.991145777), 1.0)


def test_flooring_answers_for_no_one_who_said_nan():
    floored = floor_depth(np.array([np.nan, np.inf, -2.0, 0.5]), 1e-3)
    np.testing.assert_array_equal(floored.depth, [np.nan, np.inf, 1e-3, 0.5])
    assert floored.facts == {"floored": 1}


@pytest.mark.parametrize("floor", [0.0, -1.0, np.nan, np.inf])
def test_floor_must_be_a_depth(floor):
    with pytest.raises(ConfigError, match="positive"):
        floor_depth(np.ones(2), floor)


def test_a_floor_needs_a_depth_to_raise_to():
    with pytest.raises(ConfigError, match="min_depth"):
        Adjustment(Region(), floor=True)


def test_a_frame_without_points_does_not_stop_the_fit_of_the_others():
    empty, full = np.empty(0), np.array([1.0, 2.0, 4.0])
    pairs = [DepthPair(empty, empty), DepthPair(full, 2 * full)]
    first, second = Adjustment(Region()).adjust("inverse_depth", pairs)
    assert first.depth.size == 0
    np.testing.assert_allclose(second.depth, 2 * full)
