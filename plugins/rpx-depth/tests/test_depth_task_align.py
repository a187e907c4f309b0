import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Frame, Sample
from rpx_core.errors import ConfigError
from rpx_core.testing import values_of
from rpx_depth.metrics.errors import DepthErrors
from rpx_depth.types import DepthGroundTruth, DepthPrediction

METHODS = ("none", "median", "affine", "disparity", "inverse_depth")
METRICS = DepthErrors()


def frame(truth, prediction) -> Frame:
    truth = DepthGroundTruth(np.atleast_2d(np.asarray(truth, np.float32)))
    prediction = DepthPrediction(np.atleast_2d(np.asarray(prediction, np.float32)))
    return Frame(Sample("s", ground_truth=truth), truth, prediction)


def errors(frame: Frame, prediction: DepthPrediction) -> dict:
    return dict(values_of(METRICS, METRICS.measure(frame.sample, frame.truth, prediction)))


def aligned_errors(task, method, *frames: Frame) -> list[dict]:
    aligned = task.align(method, frames)
    return [errors(frame, one.prediction) for frame, one in zip(frames, aligned, strict=True)]


# RW-041
def test_median_scale_sees_valid_pixels_only(task):
    (aligned,) = task().align("median", [frame([0, 0, 0, 2, 4], [9, 9, 9, 1, 2])])
    assert aligned.facts == {"scale": 2, "shift": 0, "clipped": 0}
    assert aligned.note is None
    np.testing.assert_array_equal(aligned.prediction.depth_map, [[18, 18, 18, 2, 4]])


# RW-041: and only those of the protocol's region, which is already in the truth.
def test_fit_sees_what_the_metrics_see(task, folder):
    folder.put("depth", "d.npy", encode_npy(np.float32([[2, 4, 90], [2, 4, 90]])))
    sample = folder.load(max_depth=10)
    prediction = task().validate(np.float32([[1, 2, 9], [1, 2, 9]]), sample)
    (aligned,) = task().align("median", [Frame(sample, sample.ground_truth, prediction)])
    assert aligned.facts["scale"] == 2


# RW-042
def test_disparity_is_fitted_in_its_own_space(task):
    sample = frame([1, 2, 4], [4, 2.5, 1.75])
    (aligned,) = task().align("disparity", [sample])
    assert aligned.facts["scale"] == pytest.approx(1 / 3, abs=1e-6)
    assert aligned.facts["shift"] == pytest.approx(-1 / 3, abs=1e-6)
    assert errors(sample, aligned.prediction)["absrel"] == pytest.approx(0, abs=1e-6)
    (wrong,) = aligned_errors(task(), "affine", sample)
    assert wrong["absrel"] == pytest.approx(0.214285714, abs=1e-6)


# RW-043
def test_negative_disparity_becomes_the_far_cap_and_is_counted(task):
    sample = frame([1, 2, 10, 10], [1, 0.5, 0.1, -0.9])
    (aligned,) = task(max_depth=10).align("disparity", [sample])
    assert aligned.facts["scale"] == pytest.approx(0.44801027, abs=1e-5)
    assert aligned.facts["shift"] == pytest.approx(0.3465982, abs=1e-5)
    assert aligned.facts["clipped"] == 1
    assert aligned.note == "the fit puts more than 1% of a prediction beyond infinity"
    depth = [[1.25848142, 1.75253093, 2.55493604, 10.0]]
    np.testing.assert_allclose(aligned.prediction.depth_map, depth, rtol=1e-6)
    assert errors(sample, aligned.prediction)["absrel"] == pytest.approx(0.281680588, abs=1e-6)


def test_far_cap_is_the_largest_true_depth_where_the_protocol_has_none(task):
    frames = [frame([1, 2, 10, 10], [1, 0.5, 0.1, -0.9]), frame([3, 0], [0.3, -9])]
    _, second = task().align("disparity", frames)
    assert second.prediction.depth_map[0, 1] == 10


# RW-045
def test_one_fit_per_sequence_does_not_hide_the_drift_of_scale(task):
    frames = [frame([1, 1], [1, 1]), frame([1, 1], [2, 2])]
    apart = [aligned_errors(task(), "median", one)[0]["absrel"] for one in frames]
    assert apart == [0, 0]
    together = task().align("median", frames)
    assert [one.facts["scale"] for one in together] == pytest.approx([2 / 3, 2 / 3])
    absrel = [values["absrel"] for values in aligned_errors(task(), "median", *frames)]
    assert np.mean(absrel) == pytest.approx(1 / 3)


def test_without_alignment_nothing_is_fitted_or_changed(task):
    sample = frame([1, 0], [-3, 5])
    (aligned,) = task().align("none", [sample])
    assert aligned.facts == {}
    assert aligned.prediction.depth_map is sample.prediction.depth_map


def test_constant_prediction_cannot_be_fitted_by_a_line(task):
    assert task().align("affine", [frame([1, 2, 3], [2, 2, 2])]) == [None]
    assert task().align("disparity", [frame([1, 2, 3], [2, 2, 2])]) == [None]


@pytest.mark.parametrize("method", METHODS)
def test_frame_without_answers_stays_a_miss_instead_of_undefined(task, method):
    empty = frame([1, 2, 3], [np.nan, np.nan, np.nan])
    (aligned,) = task().align(method, [empty])
    values = errors(empty, aligned.prediction)
    assert (values["coverage"], values["delta1_of_truth"], values["absrel"]) == (0, 0, None)


def test_unknown_method_is_named(task):
    with pytest.raises(ConfigError, match="lsq"):
        task().align("lsq", [frame([1], [1])])


# RW-048: predictions are clamped to the range from which the truth is masked.
def test_clamp_moves_answers_into_the_range_and_counts_them(task):
    sample = frame([10, 0, 5], [10, 700, 0.2])
    (aligned,) = task(min_depth=0.5, max_depth=80, clamp=True).align("none", [sample])
    np.testing.assert_array_equal(aligned.prediction.depth_map, np.float32([[10, 80, 0.5]]))
    assert aligned.facts == {"clamped": 2}


def test_clamp_comes_after_the_alignment(task):
    (aligned,) = task(max_depth=80, clamp=True).align("median", [frame([60, 60], [30, 90])])
    np.testing.assert_array_equal(aligned.prediction.depth_map, [[30, 80]])
    assert aligned.facts == {"scale": 1, "shift": 0, "clipped": 0, "clamped": 1}


def test_clamp_makes_no_answer_of_an_abstention(task):
    sample = frame([1, 1, 1, 1], [np.nan, 0, -2, np.inf])
    (aligned,) = task(min_depth=0.5, max_depth=5, clamp=True).align("none", [sample])
    assert errors(sample, aligned.prediction)["coverage"] == 0
    assert aligned.facts == {"clamped": 0}


# RW-037: either the zero is a very near answer, counted, or it is none; its error is never lost.
def test_zero_prediction_is_floored_and_counted_where_the_protocol_says_so(task):
    sample = frame([1, 2, 4, 4], [0, 2, 4, 4])
    (aligned,) = task(min_depth=0.001, nonpositive="floor").align("none", [sample])
    values = errors(sample, aligned.prediction)
    assert values["silog"] == pytest.approx(2.991145777, abs=1e-6)
    assert aligned.facts == {"floored": 1}
    abstained = errors(sample, sample.prediction)
    assert (abstained["coverage"], abstained["delta1_of_truth"]) == (0.75, 0.75)


# RW-114: after the fit that removes it, a factor is gone from every number.
@pytest.mark.parametrize("method", ["median", "affine", "inverse_depth"])
def test_factor_two_vanishes_under_alignment(task, method):
    truth = np.linspace(1, 4, 12).reshape(3, 4)
    (values,) = aligned_errors(task(), method, frame(truth, 2 * truth))
    assert values["absrel"] == pytest.approx(0, abs=1e-6)
    assert values["scale_ratio"] == pytest.approx(1, abs=1e-6)


depths = arrays(np.float32, (4, 5), elements=st.floats(0.25, 8, width=32))
holes = arrays(np.bool_, (4, 5))


@st.composite
def frames(draw) -> Frame:
    truth, prediction = draw(depths), draw(depths)
    truth[draw(holes)], prediction[draw(holes)] = 0, np.nan
    return frame(truth, prediction)


@given(frames(), st.sampled_from(METHODS))
def test_alignment_keeps_inputs_and_holes(task, sample, method):
    truth, prediction = sample.truth.depth_map.copy(), sample.prediction.depth_map.copy()
    (aligned,) = task().align(method, [sample])
    np.testing.assert_array_equal(sample.prediction.depth_map, prediction)
    np.testing.assert_array_equal(sample.truth.depth_map, truth)
    if aligned is not None:
        assert np.isnan(aligned.prediction.depth_map)[np.isnan(prediction)].all()
