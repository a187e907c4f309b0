"""The metrics at points: worked examples, what is undefined, and the laws that always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.contracts import Frame, Sample, Undefined
from rpx_core.errors import MetricError
from rpx_core.testing import (
    ROUNDING,
    check_order,
    check_split,
    check_storage,
    measure_all,
    values_of,
)
from rpx_depth.metrics.errors import DepthErrors
from rpx_depth.metrics.sparse import PublishedSparseDepthErrors, SparseDepthErrors
from rpx_depth.pixel_errors import measure_errors, standard_set
from rpx_depth.types import SparseDepthGroundTruth, SparseDepthPrediction

SAMPLE = Sample("s")
ERRORS, PUBLISHED = SparseDepthErrors(), PublishedSparseDepthErrors()
METRICS = [ERRORS, PUBLISHED]
NAMES = [type(metric).__name__ for metric in METRICS]


def truth_at(points, depths) -> SparseDepthGroundTruth:
    return SparseDepthGroundTruth(np.array(points, np.float64).reshape(-1, 2), np.float64(depths))


def predict(points, depths) -> SparseDepthPrediction:
    return SparseDepthPrediction(np.array(points, np.float64).reshape(-1, 2), np.float64(depths))


def values(metric, truth, prediction) -> dict:
    return dict(values_of(metric, metric.measure(SAMPLE, truth, prediction)))


def test_published_worked_example():
    truth = truth_at([(10, 10), (50, 50)], [2.0, 4.0])
    got = values(PUBLISHED, truth, predict([(11, 10)], [2.2]))
    assert got["sparse_absrel"] == pytest.approx(0.55)
    assert got["sparse_rmse"] == pytest.approx(2.832, abs=5e-4)
    standard = values(ERRORS, truth, predict([(11, 10)], [2.2]))
    assert standard["absrel"] == pytest.approx(0.1)
    assert (standard["coverage"], standard["delta1_of_truth"]) == (0.5, 0.5)


# RW-051
def test_predicting_nothing_costs_one_per_point_and_never_metres():
    truth = truth_at([(0, 0), (5, 5)], [2.0, 4.0])
    got = values(PUBLISHED, truth, predict([], []))
    assert got["sparse_absrel"] == pytest.approx(1.0, abs=1e-6)
    assert got["sparse_rmse"] == pytest.approx(3.16227766, abs=1e-6)
    standard = values(ERRORS, truth, predict([], []))
    defined = {name: value for name, value in standard.items() if value is not None}
    assert defined == {"coverage": 0, "delta1_of_truth": 0}


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@pytest.mark.parametrize("depths", [[], [0, 0]])
def test_image_without_true_depths_is_undefined(metric, depths):
    points = [(1, 1), (2, 2)][: len(depths)]
    measured = metric.measure(SAMPLE, truth_at(points, depths), predict([(1, 1)], [2.0]))
    assert measured == Undefined("no point has a true depth")


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
def test_points_without_true_depth_count_nowhere(metric):
    points = [(1, 1), (8, 8), (20, 3)]
    whole = values(metric, truth_at(points, [2, 0, 3]), predict(points, [2.5, 99.0, 2.0]))
    part = values(metric, truth_at(points[::2], [2, 3]), predict(points[::2], [2.5, 2.0]))
    assert whole == part


@pytest.mark.parametrize("answer", [np.nan, np.inf, -np.inf, 0.0])
def test_a_depth_that_is_none_is_a_missing_answer(answer):
    points = [(1, 1), (8, 8)]
    truth = truth_at(points, [2, 4])
    missing, without = predict(points, [2.0, answer]), predict(points[:1], [2.0])
    for metric in METRICS:
        assert values(metric, truth, missing) == values(metric, truth, without)


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
def test_astronomic_answers_are_an_error_not_infinity(metric):
    points = [(1, 1)]
    with pytest.raises(MetricError, match="overflow"):
        metric.measure(SAMPLE, truth_at(points, [2]), predict(points, [1e200]))


def test_outputs_are_those_of_the_dense_metric_over_points():
    dense = DepthErrors.outputs
    assert list(ERRORS.outputs) == list(dense)
    for name, output in ERRORS.outputs.items():
        assert (output.better, output.unit) == (dense[name].better, dense[name].unit)
        assert "pixel" not in output.summary


depths = st.integers(1, 12).flatmap(
    lambda size: arrays(np.float64, (2, size), elements=st.floats(0.25, 6))
)


@st.composite
def scenes(draw) -> tuple[SparseDepthGroundTruth, SparseDepthPrediction]:
    """Points far enough apart that each answers for itself, with holes on both sides."""
    true, predicted = draw(depths)
    points = np.stack([np.arange(true.size) * 5.0, draw(st.integers(0, 9)) * np.ones(true.size)], 1)
    true[draw(arrays(np.bool_, true.shape))] = 0
    lost = draw(arrays(np.bool_, true.shape))
    predicted[lost] = draw(st.sampled_from([0, -1, np.nan, np.inf, -np.inf]))
    return SparseDepthGroundTruth(points, true), SparseDepthPrediction(points.copy(), predicted)


def record(recording) -> list[Frame]:
    return [Frame(SAMPLE, *scene) for scene in recording]


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(recording=st.lists(scenes(), min_size=1, max_size=4), data=st.data())
def test_states_survive_bytes_and_fold_in_any_order_and_split(metric, recording, data):
    states = measure_all(metric, record(recording))
    check_storage(metric, states)
    check_order(metric, states, data.draw(st.permutations(range(len(states)))))
    # SILog is the root of a difference: near 0, an ulp of the terms is half of its digits.
    check_split(
        metric,
        states,
        data.draw(st.integers(0, len(states))),
        lambda name: 1e-5 if name.startswith("silog") else ROUNDING,
    )


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(scene=scenes(), random=st.randoms(use_true_random=False))
def test_truth_as_prediction_is_perfect_in_any_order(metric, scene, random):
    truth, _ = scene
    order = list(range(len(truth.depths)))
    random.shuffle(order)
    told = SparseDepthPrediction(truth.coordinates[order], truth.depths[order])
    for state in measure_all(metric, record([(truth, told)])):
        bests = {name: output.best for name, output in metric.outputs.items()}
        assert values_of(metric, state) == bests


@given(scene=scenes())
def test_numbers_are_those_of_a_map_that_holds_the_points(scene):
    truth, prediction = scene
    for state in measure_all(ERRORS, record([scene])):
        as_map = (prediction.depths.reshape(1, -1), truth.depths.reshape(1, -1))
        expected = standard_set(measure_errors(*as_map))
        got = values_of(ERRORS, state)
        assert {name: got[name] for name in expected} == expected


@given(scene=scenes(), further=st.floats(1.01, 3))
def test_moving_answers_away_from_the_truth_worsens_every_error(scene, further):
    truth, prediction = scene
    moved = truth.depths + (prediction.depths - truth.depths) * further
    # An answer must stay one: those that would cross zero are left where they are.
    moved = np.where(moved > 0, moved, prediction.depths)
    worse = SparseDepthPrediction(prediction.coordinates, moved)
    for metric, names in ((ERRORS, ("absrel", "mae", "rmse")), (PUBLISHED, PUBLISHED.outputs)):
        for near, far in zip(
            measure_all(metric, record([scene])),
            measure_all(metric, record([(truth, worse)])),
            strict=True,
        ):
            before, after = values_of(metric, near), values_of(metric, far)
            for name in names:
                if before[name] is not None:
                    assert after[name] >= before[name] * (1 - 1e-9)


@given(scene=scenes(), dropped=st.integers(0, 11))
def test_dropping_an_answer_never_raises_what_counts_answers(scene, dropped):
    truth, prediction = scene
    keep = np.arange(len(truth.depths)) != dropped
    fewer = SparseDepthPrediction(prediction.coordinates[keep], prediction.depths[keep])
    for whole, part in zip(
        measure_all(ERRORS, record([scene])),
        measure_all(ERRORS, record([(truth, fewer)])),
        strict=True,
    ):
        before, after = values_of(ERRORS, whole), values_of(ERRORS, part)
        for name in ("coverage", "delta1_of_truth"):
            assert after[name] <= before[name]


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(scene=scenes())
def test_measuring_changes_no_input(metric, scene):
    arrays = [array for part in scene for array in vars(part).values()]
    before = [array.tobytes() for array in arrays]
    metric.measure(SAMPLE, *scene)
    assert [array.tobytes() for array in arrays] == before
