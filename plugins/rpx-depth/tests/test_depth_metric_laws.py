"""What holds for every depth metric, whatever the images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.contracts import Frame, Sample
from rpx_core.testing import (
    ROUNDING,
    check_order,
    check_split,
    check_storage,
    measure_all,
    values_of,
)
from rpx_depth.metrics.bins import DepthBins, DepthBinsOptions
from rpx_depth.metrics.errors import DepthErrors
from rpx_depth.metrics.quantiles import DepthQuantiles
from rpx_depth.metrics.stability import DepthStability, PublishedDepthStability
from rpx_depth.types import DepthGroundTruth, DepthPrediction

SHAPE = (5, 8)
CAMERA = np.array([[10.0, 0, 3.5], [0, 10, 2], [0, 0, 1]])
ERRORS = DepthErrors()
METRICS = [
    ERRORS,
    DepthBins(DepthBinsOptions(min_pixels=3)),
    DepthQuantiles(),
    DepthStability(),
    PublishedDepthStability(),
]
NAMES = [type(metric).__name__ for metric in METRICS]

depths = arrays(np.float32, SHAPE, elements=st.floats(0.25, 6, width=32))
holes = arrays(np.bool_, SHAPE)
lost = st.sampled_from([0, -1, np.nan, np.inf, -np.inf])


def rounding(output: str) -> float:
    # SILog is the root of a difference: near 0, an ulp of the terms is half of its digits.
    return 1e-5 if output.startswith("silog") else ROUNDING


@st.composite
def images(draw) -> tuple[np.ndarray, np.ndarray]:
    """A truth with holes and a prediction with abstentions of every kind."""
    truth, prediction = draw(depths), draw(depths)
    truth[draw(holes)] = 0
    prediction[draw(holes)] = draw(lost)
    return truth, prediction


def frame(image: tuple[np.ndarray, np.ndarray], number: int) -> Frame:
    pose = np.eye(4)
    pose[0, 3] = 0.05 * number
    sample = Sample(f"s{number}", camera_pose=pose, intrinsics=CAMERA, frame=number)
    return Frame(sample, DepthGroundTruth(image[0]), DepthPrediction(image[1]))


def record(recording) -> list[Frame]:
    return [frame(image, number) for number, image in enumerate(recording)]


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(recording=st.lists(images(), min_size=2, max_size=4))
def test_states_survive_bytes_and_results_are_finite(metric, recording):
    check_storage(metric, measure_all(metric, record(recording)))


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(recording=st.lists(images(), min_size=2, max_size=5), data=st.data())
def test_folds_do_not_depend_on_order_or_split(metric, recording, data):
    states = measure_all(metric, record(recording))
    check_order(metric, states, data.draw(st.permutations(range(len(states)))))
    check_split(metric, states, data.draw(st.integers(0, len(states))), rounding)


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(recording=st.lists(images(), min_size=2, max_size=3))
def test_measuring_changes_no_input(metric, recording):
    before = [[array.tobytes() for array in image] for image in recording]
    measure_all(metric, record(recording))
    assert [[array.tobytes() for array in image] for image in recording] == before


@given(truth=depths, no_truth=holes)
def test_truth_as_prediction_is_perfect(truth, no_truth):
    truth[no_truth] = 0
    for state in measure_all(ERRORS, record([(truth, truth)])):
        values = values_of(ERRORS, state)
        bests = {name: out.best for name, out in ERRORS.outputs.items()}
        assert values == bests


@given(truth=depths, no_truth=holes, share=st.sampled_from([0.02, 0.1, 0.3]))
def test_scaling_a_perfect_prediction_costs_what_it_is_off(truth, no_truth, share):
    truth[no_truth] = 0
    for state in measure_all(ERRORS, record([(truth, truth * (1.0 + np.float64(share)))])):
        values = values_of(ERRORS, state)
        assert values["absrel"] == pytest.approx(share)
        assert values["mae"] == pytest.approx(share * truth[truth > 0].mean(dtype=np.float64))
        assert values["scale_ratio"] == pytest.approx(1 + share)
        assert values["silog"] == pytest.approx(0, abs=1e-7)


@given(truth=depths, no_truth=holes, noise=arrays(np.float64, SHAPE, elements=st.floats(0.9, 1.2)))
def test_noise_costs_its_own_size(truth, no_truth, noise):
    truth[no_truth] = 0
    for state in measure_all(ERRORS, record([(truth, truth * noise)])):
        values, size = values_of(ERRORS, state), np.abs(noise - 1)[truth > 0]
        assert values["absrel"] == pytest.approx(size.mean())
        assert values["delta1"] == 1
        assert values["silog"] == pytest.approx(np.log(noise[truth > 0]).std(), abs=1e-7)


@given(truth=depths, no_truth=holes, dropped=holes)
def test_dropped_pixels_cost_coverage(truth, no_truth, dropped):
    truth[no_truth] = 0
    prediction = np.where(dropped, np.nan, truth)
    for state in measure_all(ERRORS, record([(truth, prediction)])):
        values, answered = values_of(ERRORS, state), ~dropped[truth > 0]
        assert values["coverage"] == pytest.approx(answered.mean())
        assert values["delta1_of_truth"] == pytest.approx(answered.mean())
        assert values["absrel"] == (0 if answered.any() else None)


@given(image=images(), further=st.floats(1.01, 3))
def test_moving_answers_away_from_the_truth_worsens_every_error(image, further):
    truth, prediction = image
    moved = (truth + (prediction.astype(np.float64) - truth) * further).astype(np.float64)
    # An answer must stay one: those that would cross zero are left where they are.
    moved = np.where(moved > 0, moved, prediction)
    for near, far in zip(
        measure_all(ERRORS, record([image])),
        measure_all(ERRORS, record([(truth, moved)])),
        strict=True,
    ):
        before, after = values_of(ERRORS, near), values_of(ERRORS, far)
        assert after["coverage"] == before["coverage"]
        for error in ("absrel", "mae", "rmse", "sqrel"):
            if before[error] is not None:
                assert after[error] >= before[error] * (1 - 1e-9)
        for hits in ("delta1", "delta2", "delta3", "delta1_of_truth"):
            if before[hits] is not None:
                assert after[hits] <= before[hits]


@given(image=images(), dropped=holes)
def test_dropping_answers_never_raises_what_counts_them(image, dropped):
    truth, prediction = image
    fewer = np.where(dropped, np.nan, prediction)
    pair = [measure_all(ERRORS, record([one])) for one in (image, (truth, fewer))]
    for whole, part in zip(*pair, strict=True):
        before, after = values_of(ERRORS, whole), values_of(ERRORS, part)
        assert after["coverage"] <= before["coverage"]
        assert after["delta1_of_truth"] <= before["delta1_of_truth"]
