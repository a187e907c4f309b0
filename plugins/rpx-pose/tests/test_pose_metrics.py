"""The metrics of relative poses: means, areas, and what failures do to them."""

import numpy as np
import pytest

from rpx_core.contracts import Sample, Undefined
from rpx_core.state import fold
from rpx_core.testing import values_of
from rpx_pose.metrics.pose_auc import PoseAuc
from rpx_pose.metrics.pose_errors import PoseErrorOptions, RelativePoseErrors
from rpx_pose.types import RelativePoseGroundTruth, RelativePosePrediction

SAMPLE = Sample("s")
FORWARD = RelativePoseGroundTruth(np.eye(3), np.array([0.0, 0, 1]))
STILL = RelativePoseGroundTruth(np.eye(3), np.zeros(3))
NO_POSE = RelativePosePrediction.no_pose()


def turned(degrees: float, translation=(0.0, 0, 1), *, scale_known=True) -> RelativePosePrediction:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return RelativePosePrediction(rotation, np.array(translation, float), scale_known=scale_known)


def run(metric, *pairs):
    states = [metric.measure(SAMPLE, truth, prediction) for truth, prediction in pairs]
    kept = [state for state in states if not isinstance(state, Undefined)]
    return values_of(metric, fold(kept)) if kept else None


@pytest.fixture
def errors():
    return RelativePoseErrors(PoseErrorOptions())


@pytest.fixture
def auc():
    return PoseAuc(PoseErrorOptions())


def test_errors_of_one_pair(errors):
    values = run(errors, (FORWARD, turned(10, (0, 0, 3))))
    assert values["rotation_error_deg"] == pytest.approx(10)
    assert values["translation_angular_deg"] == pytest.approx(0)
    assert values["pose_error_max_deg"] == pytest.approx(10)
    assert values["translation_error_m"] == pytest.approx(2)
    assert values["coverage"] == 1


def test_failures_count_with_the_largest_angle_and_are_reported(errors):
    values = run(errors, (FORWARD, turned(10)), (FORWARD, NO_POSE))
    assert values["rotation_error_deg"] == pytest.approx(95)
    assert values["translation_angular_deg"] == pytest.approx(90)
    assert values["translation_angular_folded_deg"] == pytest.approx(45)
    assert values["coverage"] == 0.5


def test_metric_error_needs_a_known_scale(errors):
    assert run(errors, (FORWARD, turned(0, scale_known=False)))["translation_error_m"] is None
    assert run(errors, (FORWARD, NO_POSE))["translation_error_m"] is None
    assert run(errors, (FORWARD, turned(0)))["translation_error_m"] == 0


def test_direction_of_a_still_truth_is_null_and_its_rotation_is_not(errors, auc):
    values = run(errors, (STILL, turned(3)))
    assert values["rotation_error_deg"] == pytest.approx(3)
    assert values["translation_angular_deg"] is None
    assert values["pose_error_max_deg"] is None
    assert run(auc, (STILL, turned(3))) is None


def test_an_unanswered_pair_of_a_still_truth_counts_where_the_truth_has_a_value(errors, auc):
    values = run(errors, (STILL, NO_POSE))
    assert (values["rotation_error_deg"], values["coverage"]) == (180, 0)
    assert values["translation_angular_deg"] is None
    assert run(auc, (STILL, NO_POSE)) is None
    result = errors.result(errors.measure(SAMPLE, STILL, NO_POSE))
    assert result["pose_error_max_deg"] == Undefined(
        "the true translation is too short to have a direction"
    )


@pytest.mark.parametrize("length", [1e-12, 1e-200, 1e200])
def test_the_length_of_a_translation_of_unknown_scale_means_nothing(errors, length):
    answer = turned(0, (length, 0, length), scale_known=False)
    assert run(errors, (FORWARD, answer))["translation_angular_deg"] == pytest.approx(45)


def test_a_translation_of_zero_has_no_direction_in_any_scale(errors):
    for known in (True, False):
        answer = turned(0, (0, 0, 0), scale_known=known)
        assert run(errors, (FORWARD, answer))["translation_angular_deg"] == 180
    metres = turned(0, (0, 0, 1e-12))
    assert run(errors, (FORWARD, metres))["translation_angular_deg"] == 180


def test_shortest_baseline_is_an_option():
    options = PoseErrorOptions(shortest_m=2.0)
    assert run(PoseAuc(options), (FORWARD, turned(3))) is None


def test_sign_of_the_direction_counts_unless_declared_otherwise():
    back = turned(0, (0, 0, -1))
    signed, folded = (
        RelativePoseErrors(PoseErrorOptions(direction=direction))
        for direction in ("signed", "folded")
    )
    assert run(signed, (FORWARD, back))["pose_error_max_deg"] == pytest.approx(180)
    assert run(folded, (FORWARD, back))["pose_error_max_deg"] == pytest.approx(0)
    assert run(folded, (FORWARD, back))["translation_angular_deg"] == pytest.approx(180)


def test_areas_pool_errors_and_count_failures(auc):
    pairs = [(FORWARD, turned(degrees)) for degrees in (1, 2)]
    values = run(auc, *pairs, (FORWARD, NO_POSE), (FORWARD, NO_POSE))
    assert values["auc5_trapezoid"] == pytest.approx(0.4)
    assert values["auc5_exact"] == pytest.approx(0.35)
    assert values["no_pose"] == 2


def test_published_area_is_the_grid(auc):
    values = run(auc, *[(FORWARD, turned(degrees)) for degrees in (1, 3, 8, 30)])
    areas = [values[f"auc{limit}_grid"] for limit in (5, 10, 20)]
    np.testing.assert_allclose(areas, [0.3005, 0.4508, 0.6023], atol=5e-5)


def test_hundred_thousand_pairs_are_measured_together():
    # The kernel takes arrays; the time is measured in benchmarks/pose.py.
    from rpx_pose.relative_errors import RelativePoses, measure_pose_errors

    many = 100_000
    poses = RelativePoses(np.tile(np.eye(3), (many, 1, 1)), np.tile([0.0, 0, 1], (many, 1)))
    assert measure_pose_errors(poses, poses).max_deg("signed").shape == (many,)
