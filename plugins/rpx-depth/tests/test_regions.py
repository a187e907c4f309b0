import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.pixel_errors import measure_errors, standard_set
from rpx_depth.regions import (
    Region,
    clamp_prediction,
    crop_window,
    floor_prediction,
    valid_truth,
)


@pytest.mark.parametrize(
    ("crop", "shape", "rows", "columns"),
    [
        ("garg", (375, 1242), (153, 371), (44, 1197)),
        ("eigen", (375, 1242), (124, 342), (44, 1197)),
        ("garg", (352, 1216), (143, 349), (43, 1172)),
        ("nyu-eigen", (480, 640), (45, 471), (41, 601)),
        ("none", (375, 1242), (None, None), (None, None)),
    ],
)
def test_crop_windows(crop, shape, rows, columns):
    assert crop_window(crop, shape) == (slice(*rows), slice(*columns))


@pytest.mark.parametrize(
    ("crop", "shape", "pixels"),
    [
        ("garg", (375, 1242), 251354),
        ("none", (375, 1242), 465750),
        ("nyu-eigen", (480, 640), 426 * 560),
    ],
)
def test_crop_keeps_its_pixels(crop, shape, pixels):
    assert valid_truth(np.ones(shape), Region(crop)).sum() == pixels


def test_nyu_crop_names_the_size_it_needs():
    with pytest.raises(MetricError, match="480x640 depth, got 240x320"):
        valid_truth(np.ones((240, 320)), Region("nyu-eigen"))


def test_crop_needs_a_map():
    with pytest.raises(MetricError, match="height x width"):
        valid_truth(np.ones(7), Region("garg"))


def test_range_includes_both_ends_and_leaves_the_rest_out():
    truth = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    assert valid_truth(truth, Region("none", 1.0, 3.0)).tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("bound", [0.1, 0.3, 0.7])
def test_a_stored_depth_equal_to_a_bound_is_inside(dtype, bound):
    truth = np.array([bound]).astype(dtype)
    if dtype == np.float16:
        bound = float(truth[0])
    assert valid_truth(truth, Region("none", min_depth=bound)).all()
    assert valid_truth(truth, Region("none", max_depth=bound)).all()


@pytest.mark.parametrize("hole", [0.0, -1.0, np.nan, np.inf])
def test_holes_are_never_valid(hole):
    assert not valid_truth(np.array([hole]), Region()).any()


def test_far_truth_is_left_out_not_clipped():
    truth, prediction = np.array([10.0, 100.0]), np.array([10.0, 70.0])
    region = Region("none", max_depth=80.0)
    sums = measure_errors(clamp_prediction(prediction, region), truth, valid_truth(truth, region))
    assert (sums.truth_pixels, standard_set(sums)["absrel"]) == (1, 0.0)


def test_clamping_moves_answers_only():
    prediction = np.array([0.5, 2.0, 90.0, np.nan, np.inf, -np.inf, 0.0, -3.0])
    clamped = clamp_prediction(prediction, Region("none", 1.0, 80.0))
    np.testing.assert_array_equal(clamped, [1.0, 2.0, 80.0, np.nan, np.inf, -np.inf, 0.0, -3.0])
    assert prediction[0] == 0.5


predictions = arrays(np.float32, 12, elements=st.floats(-5, 100, width=32) | st.just(np.nan))


@given(predictions)
def test_clamping_never_changes_coverage(prediction):
    region = Region("none", 0.5, 80.0)
    truth = np.full(prediction.shape, 2.0)
    before = measure_errors(prediction, truth)
    after = measure_errors(clamp_prediction(prediction, region), truth)
    assert (after.pixels, after.truth_pixels) == (before.pixels, before.truth_pixels)


def test_clamping_without_a_range_returns_the_prediction():
    prediction = np.array([1.0, np.nan])
    assert clamp_prediction(prediction, Region()) is prediction


def test_zero_prediction_abstains_or_is_floored_and_counted():
    truth, prediction = np.array([1.0, 2.0, 4.0, 4.0]), np.array([0.0, 2.0, 4.0, 4.0])
    abstained = standard_set(measure_errors(prediction, truth))
    assert (abstained["coverage"], abstained["delta1_of_truth"]) == (0.75, 0.75)
    floored = floor_prediction(prediction, 0.001)
    assert floored.floored == 1
    values = standard_set(measure_errors(floored.depth, truth))
    assert (values["silog"], values["coverage"]) == (pytest.approx(2.991145777), 1.0)


def test_flooring_answers_for_no_one_who_said_nan():
    floored = floor_prediction(np.array([np.nan, np.inf, -2.0, 0.5]), 1e-3)
    np.testing.assert_array_equal(floored.depth, [np.nan, np.inf, 1e-3, 0.5])
    assert floored.floored == 1


@pytest.mark.parametrize(
    ("low", "high"), [(2.0, 1.0), (1.0, 1.0), (-1.0, None), (np.nan, None), (None, np.inf)]
)
def test_empty_ranges_are_refused(low, high):
    with pytest.raises(ConfigError, match="depth range"):
        Region("none", low, high)


def test_unknown_crop_lists_the_known_ones():
    with pytest.raises(ConfigError, match="'gerg'") as error:
        Region("gerg")
    assert "garg" in str(error.value)


@pytest.mark.parametrize("floor", [0.0, -1.0, np.nan, np.inf])
def test_floor_must_be_a_depth(floor):
    with pytest.raises(ConfigError, match="positive"):
        floor_prediction(np.ones(2), floor)
