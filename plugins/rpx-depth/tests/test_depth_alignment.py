import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.alignment import (
    METHODS,
    Fit,
    LineMoments,
    apply,
    fit,
    fit_line,
    line_moments,
)
from rpx_depth.pixel_errors import measure_errors, standard_set
from rpx_depth.types import DepthPair

LINES = ("affine", "disparity", "inverse_depth")


def frame(prediction, truth) -> DepthPair:
    return DepthPair(np.asarray(prediction, np.float64), np.asarray(truth, np.float64))


def absrel(prediction, truth) -> float | None:
    return standard_set(measure_errors(prediction, np.asarray(truth, np.float64)))["absrel"]


def test_worked_example():
    pair = frame([1, 2, 3], [1.5, 2.5, 3.2])
    line, median = fit("affine", [pair]), fit("median", [pair])
    assert (line.scale, line.shift, line.pixels) == (pytest.approx(0.85), pytest.approx(0.7), 3)
    assert (median.scale, median.shift) == (1.25, 0.0)


def test_median_sees_valid_pixels_only():
    pair = frame([9, 9, 9, 1, 2], [0, 0, 0, 2, 4])
    fitted = fit("median", [pair])
    assert (fitted.scale, fitted.pixels) == (2.0, 2)
    assert absrel(apply(fitted, pair.prediction).depth, pair.truth) == 0.0


def test_disparity_is_aligned_as_disparity():
    disparity, truth = np.array([4.0, 2.5, 1.75]), np.array([1.0, 2.0, 4.0])
    fitted = fit("disparity", [DepthPair(disparity, truth)])
    assert (fitted.scale, fitted.shift) == (pytest.approx(1 / 3), pytest.approx(-1 / 3))
    aligned = apply(fitted, disparity, far_cap=100.0)
    np.testing.assert_allclose(aligned.depth, truth)
    assert aligned.clipped == 0
    wrong = fit("affine", [DepthPair(disparity, truth)])
    assert absrel(apply(wrong, disparity).depth, truth) == pytest.approx(0.214285714)


def test_disparity_beyond_infinity_is_capped_and_counted():
    disparity, truth = np.array([1.0, 0.5, 0.1, -0.9]), np.array([1.0, 2.0, 10.0, 10.0])
    fitted = fit("disparity", [DepthPair(disparity, truth)])
    assert (fitted.scale, fitted.shift) == pytest.approx((0.44801027, 0.3465982))
    aligned = apply(fitted, disparity, far_cap=10.0)
    np.testing.assert_allclose(aligned.depth, [1.25848142, 1.75253093, 2.55493604, 10.0])
    assert aligned.clipped == 1
    assert absrel(aligned.depth, truth) == pytest.approx(0.281680588)


def test_depth_is_fitted_in_inverse_space():
    truth = np.array([1.0, 2.0, 4.0, 5.0])
    prediction = 1 / (0.5 / truth + 0.1)
    fitted = fit("inverse_depth", [DepthPair(prediction, truth)])
    assert (fitted.scale, fitted.shift) == pytest.approx((2.0, -0.2))
    np.testing.assert_allclose(apply(fitted, prediction, far_cap=50.0).depth, truth)


def test_one_scale_per_scene_shows_the_drift_that_one_per_frame_hides():
    frames = [frame([1, 1], [1, 1]), frame([2, 2], [1, 1])]
    for single in frames:
        aligned = apply(fit("median", [single]), single.prediction).depth
        assert absrel(aligned, single.truth) == 0.0
    pooled = fit("median", frames)
    assert pooled.scale == pytest.approx(2 / 3)
    for single in frames:
        aligned = apply(pooled, single.prediction).depth
        assert absrel(aligned, single.truth) == pytest.approx(1 / 3)


def test_fit_sees_the_truth_that_the_protocol_leaves():
    pair = frame([1, 2, 3, 50], [2, 4, 6, 0])
    fitted = fit("affine", [pair])
    assert (fitted.scale, fitted.shift, fitted.pixels) == (pytest.approx(2), pytest.approx(0), 3)


def test_affine_outputs_may_be_negative_but_not_missing():
    pair = frame([-1, 0, 1, np.nan, np.inf, 5], [1, 2, 3, 4, 4, np.nan])
    fitted = fit("affine", [pair])
    assert (fitted.scale, fitted.shift, fitted.pixels) == (1.0, 2.0, 3)


def test_unusable_predictions_are_left_out_of_the_median():
    assert fit("median", [frame([2, 0, -1, np.nan], [4, 9, 9, 9])]).scale == 2.0


def test_none_changes_nothing():
    prediction = np.array([1.0, np.nan, -1.0])
    fitted = fit("none", [DepthPair(prediction, np.ones(3))])
    np.testing.assert_array_equal(apply(fitted, prediction).depth, prediction)


@pytest.mark.parametrize("method", ["none", "median", *LINES])
def test_nothing_to_fit_is_not_alignable(method):
    assert fit(method, []) is None
    assert fit(method, [frame([1, 2], [0, np.nan])]) is None


@pytest.mark.parametrize("method", LINES)
def test_one_pixel_or_a_constant_gives_no_line(method):
    assert fit(method, [frame([1], [2])]) is None
    assert fit(method, [DepthPair(np.full(1000, 0.1), np.linspace(1, 2, 1000))]) is None


@pytest.mark.parametrize(
    ("method", "value"),
    [("affine", 1e200), ("disparity", 1e200), ("inverse_depth", 1e-320), ("median", 1e-320)],
)
def test_values_that_overflow_are_not_alignable(method, value):
    assert fit(method, [frame([value, value, 2 * value], [1, 1, 2])]) is None


@pytest.mark.parametrize("method", LINES)
def test_a_small_spread_around_a_large_mean_is_fitted_exactly(method):
    prediction = 1e6 + np.linspace(0, 1, 50)
    truth = 3 + np.linspace(0, 1, 50)
    if method != "affine":
        truth = 1 / truth
    pair = DepthPair(1 / prediction if method == "inverse_depth" else prediction, truth)
    assert fit(method, [pair]).scale == pytest.approx(1.0, rel=1e-9)


def test_a_negative_scale_leaves_unanswered_pixels():
    fitted = Fit("affine", -1.0, 2.0, 9)
    sums = measure_errors(apply(fitted, np.array([1.0, 3.0])).depth, np.ones(2))
    assert (sums.truth_pixels, sums.pixels) == (2, 1)


@pytest.mark.parametrize("method", METHODS)
def test_pixels_without_an_answer_stay_without(method):
    prediction = np.array([np.nan, np.inf, -np.inf, 1.0])
    aligned = apply(Fit(method, 2.0, 0.5, 9), prediction, far_cap=10.0)
    sums = measure_errors(aligned.depth, np.ones(4))
    assert (sums.pixels, aligned.clipped) == (1, 0)


def test_zero_is_a_disparity_but_not_a_depth():
    at_infinity = apply(Fit("disparity", 1.0, 0.0, 9), np.zeros(1), far_cap=10.0)
    assert (at_infinity.depth[0], at_infinity.clipped) == (10.0, 1)
    assert np.isnan(apply(Fit("inverse_depth", 1.0, 0.0, 9), np.zeros(1), far_cap=10.0).depth[0])


@pytest.mark.parametrize("method", ["disparity", "inverse_depth"])
@pytest.mark.parametrize("cap", [None, 0.0, -1.0, np.inf])
def test_inverse_fits_need_a_far_cap(method, cap):
    with pytest.raises(ConfigError, match="far cap"):
        apply(Fit(method, 1.0, 0.0, 2), np.ones(2), far_cap=cap)


def test_unknown_method_lists_the_known_ones():
    with pytest.raises(ConfigError, match="'scale'") as error:
        fit("scale", [])
    assert "median" in str(error.value)


@pytest.mark.parametrize("method", ["median", *LINES])
def test_arrays_of_different_shapes_are_refused(method):
    with pytest.raises(MetricError, match=r"prediction \(2,\) to truth \(3,\)"):
        fit(method, [DepthPair(np.ones(2), np.ones(3))])


values = arrays(np.float64, 24, elements=st.floats(0.5, 20))


@pytest.mark.parametrize("method", LINES)
@given(prediction=values, truth=values)
def test_frames_pool_to_the_fit_of_all_pixels(method, prediction, truth):
    assume(np.ptp(prediction) > 0.1)
    parts = [line_moments(method, DepthPair(prediction[i::3], truth[i::3])) for i in range(3)]
    pooled = fit_line(method, sum(parts, LineMoments()))
    whole = fit(method, [DepthPair(prediction, truth)])
    assert (pooled.scale, pooled.shift) == pytest.approx(
        (whole.scale, whole.shift), rel=1e-9, abs=1e-9
    )


@given(values, values)
def test_affine_is_the_least_squares_solution(prediction, truth):
    assume(np.ptp(prediction) > 0.1)
    fitted = fit("affine", [DepthPair(prediction, truth)])
    design = np.stack([prediction, np.ones_like(prediction)], axis=1)
    expected = np.linalg.lstsq(design, truth, rcond=None)[0]
    assert (fitted.scale, fitted.shift) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("method", ["median", "affine", "inverse_depth"])
@given(truth=values)
def test_truth_aligns_to_itself(method, truth):
    assume(np.ptp(truth) > 0.1)
    aligned = apply(fit(method, [DepthPair(truth, truth)]), truth, far_cap=1e4)
    np.testing.assert_allclose(aligned.depth, truth, rtol=1e-9)
