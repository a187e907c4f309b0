"""Alignment, absolute and relative errors of trajectories, and where they are undefined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpx_core.contracts import Sample, Undefined
from rpx_core.errors import ConfigError, MetricError
from rpx_core.state import decode_state, encode_state, fold
from rpx_pose.association import associate
from rpx_pose.metrics.absolute import AteNone, AteOrigin, AteSe3, AteSim3
from rpx_pose.metrics.relative import RelativeError, RelativeErrorOptions
from rpx_pose.rigid import compose
from rpx_pose.rotations import rotations_from_quaternions
from rpx_pose.trajectory_errors import (
    align_estimate,
    apply_alignment,
    steps_by_distance,
    steps_by_frames,
)
from rpx_pose.types import Trajectory, TrajectoryPrediction
from rpx_pose.umeyama import fit_similarity

ATE = (AteNone(), AteOrigin(), AteSe3(), AteSim3())
RPE = RelativeError(RelativeErrorOptions())


def along_x(*places: float) -> np.ndarray:
    positions = np.column_stack([places, np.zeros((len(places), 2))])
    return compose(np.eye(3), positions)


def walk(seed: int, count: int = 20) -> np.ndarray:
    rng = np.random.default_rng(seed)
    quaternions = np.cumsum(rng.normal(0, 0.1, (count, 4)), axis=0) + np.eye(4)[3]
    steps = np.cumsum(rng.normal(0, 0.2, (count, 3)) + np.array([0.3, 0, 0]), axis=0)
    return compose(rotations_from_quaternions(quaternions, order="xyzw"), steps)


def motion(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rotation = rotations_from_quaternions(rng.normal(size=4), order="xyzw")
    return compose(rotation, rng.normal(0, 5, 3))


def measure(metric, truth: np.ndarray, estimate: np.ndarray):
    every = np.arange(len(truth))
    prediction = TrajectoryPrediction(Trajectory(estimate), every, every)
    return metric.measure(Sample("s"), Trajectory(truth), prediction)


def run(metric, truth: np.ndarray, estimate: np.ndarray) -> dict:
    return dict(metric.result(measure(metric, truth, estimate)))


# RW-082: the alignment decides the number, so it is in the metric's name.
@pytest.mark.parametrize(
    ("metric", "rmse"), list(zip(ATE, [1.290994449, 1.290994449, 0.816496581, 0.0], strict=True))
)
def test_alignment_decides_the_error(metric, rmse):
    values = run(metric, along_x(0, 1, 2), along_x(0, 2, 4))
    assert values["rmse_m"] == pytest.approx(rmse, abs=1e-6)
    assert values["scale"] == pytest.approx(0.5 if isinstance(metric, AteSim3) else 1.0)


def test_motion_along_a_line_is_ambiguous_and_has_no_rotation_error():
    values = run(AteSe3(), along_x(0, 1, 2), along_x(0, 2, 4))
    assert values["ambiguous"] == 1
    assert "leaves the rotation" in values["rotation_rmse_deg"].reason
    assert run(AteOrigin(), along_x(0, 1, 2), along_x(0, 2, 4))["rotation_rmse_deg"] == 0


def test_standing_still_has_an_error_but_no_scale():
    truth, still = walk(0), along_x(*[0] * 20)
    without = run(AteSim3(), truth, still)
    assert "does not move" in without["rmse_m"].reason
    assert (without["coverage"], without["poses"]) == (1, 20)
    spread = truth[:, :3, 3] - truth[:, :3, 3].mean(axis=0)
    expected = np.sqrt((spread**2).sum(axis=1).mean())
    assert run(AteSe3(), truth, still)["rmse_m"] == pytest.approx(expected)


def test_a_still_truth_cannot_be_shrunk_to():
    found = run(AteSim3(), along_x(3, 3, 3), walk(0, 3))
    assert "does not move" in found["rmse_m"].reason


@pytest.mark.parametrize("metric", ATE)
@pytest.mark.parametrize("count", [1, 2])
def test_a_pose_or_two_have_no_error_for_an_alignment_brings_it_to_zero(metric, count):
    values = run(metric, walk(0, count), walk(1, count))
    for name in ("rmse_m", "rotation_rmse_deg", "scale", "ambiguous"):
        assert values[name] == Undefined("fewer than 3 poses are associated with the truth")
    assert (values["coverage"], values["poses"]) == (1, count)
    assert "fewer than 3" in measure(RPE, walk(0, count), walk(0, count)).reason


def test_relative_error_without_a_step_of_that_length_is_undefined():
    far = RelativeError(RelativeErrorOptions(delta=9))
    assert "no step of 9 frames" in measure(far, walk(0, 3), walk(0, 3)).reason


STAMPS = np.arange(600) * 0.05


def coverage(truth: np.ndarray, estimate: np.ndarray) -> float:
    return float(associate(truth, estimate, max_difference=0.01).covered.mean())


def test_lost_tracking_is_not_covered_wherever_it_is():
    kept = np.ones(600, bool)
    kept[10:590] = False
    assert coverage(STAMPS, STAMPS[kept]) == pytest.approx(22 / 600)
    assert coverage(STAMPS, STAMPS[:20]) == pytest.approx(21 / 600)
    assert coverage(STAMPS, STAMPS[:1]) == 1 / 600
    kept[10:590] = True
    kept[200:500] = False
    assert coverage(STAMPS, STAMPS[kept]) == pytest.approx(302 / 600)


def test_dropped_frames_and_keyframes_are_covered_and_a_few_poses_are_not():
    rng = np.random.default_rng(0)
    kept = rng.random(600) > 0.1
    kept[[0, -1]] = True
    assert coverage(STAMPS, STAMPS[kept]) > 0.98
    assert coverage(STAMPS, STAMPS[::15]) > 0.98
    assert coverage(STAMPS, STAMPS[[0, 150, 300, 450, 599]]) < 0.16


@given(st.integers(1, 20), st.integers(0, 400), st.integers(10, 200))
def test_coverage_does_not_depend_on_the_rate_of_either_side(rate, start, length):
    dense = np.arange(600 * rate) * 0.05 / rate
    gap = (dense < STAMPS[start]) | (dense > STAMPS[min(start + length, 599)])
    at_truth = (STAMPS[start] > STAMPS) | (STAMPS[min(start + length, 599)] < STAMPS)
    expected = coverage(STAMPS, STAMPS[at_truth])
    assert coverage(STAMPS, dense[gap]) == pytest.approx(expected, abs=2.5 / 600)
    assert coverage(dense, STAMPS[at_truth]) == pytest.approx(expected, abs=2.5 / 600)


def test_leaving_poses_out_never_raises_coverage():
    rng = np.random.default_rng(5)
    everything = coverage(STAMPS, STAMPS)
    for share in (0.9, 0.5, 0.2, 0.05):
        assert coverage(STAMPS, STAMPS[rng.random(600) < share]) <= everything


def test_uncovered_poses_of_the_truth_lower_coverage_of_the_metric():
    truth, every = walk(0), np.arange(20)
    covered = every < 12
    kept = every[covered]
    prediction = TrajectoryPrediction(Trajectory(truth[kept]), kept, kept, covered)
    state = AteSe3().measure(Sample("s"), Trajectory(truth), prediction)
    assert AteSe3().result(state)["coverage"] == pytest.approx(12 / 20)
    whole = measure(AteSe3(), truth, truth)
    assert AteSe3().result(fold([state, whole]))["coverage"] == pytest.approx(32 / 40)


def test_relative_error_by_hand():
    truth, estimate = along_x(0, 1, 2, 3), along_x(0, 1, 2.5, 3.5)
    values = run(RPE, truth, estimate)
    assert values["rmse_m"] == pytest.approx((0.25 / 3) ** 0.5)
    assert values["max_m"] == pytest.approx(0.5)
    assert values["rotation_max_deg"] == 0


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        ({"delta": 2, "every_start": False}, [(0, 2), (2, 4)]),
        ({"delta": 2, "every_start": True}, [(0, 2), (1, 3), (2, 4)]),
        ({"delta": 9, "every_start": False}, []),
    ],
)
def test_steps_by_frames(options, pairs):
    starts, ends = steps_by_frames(5, options["delta"], every_start=options["every_start"])
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == pairs


def test_steps_by_distance_close_when_the_path_is_long_enough():
    positions = along_x(0, 0.4, 0.85, 1.05, 1.9, 2.1)[:, :3, 3]
    starts, ends = steps_by_distance(positions, 1.0, every_start=False)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [(0, 3), (3, 5)]
    starts, ends = steps_by_distance(positions, 1.0, every_start=True)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [(0, 3), (2, 4), (3, 5)]


def test_steps_of_half_a_frame_are_refused():
    with pytest.raises(ConfigError, match="whole number"):
        RelativeError(RelativeErrorOptions(delta=0.5))


def test_poses_that_are_not_associated_are_refused():
    prediction = TrajectoryPrediction(Trajectory(walk(0)))
    with pytest.raises(MetricError, match="validate"):
        AteSe3().measure(Sample("s7"), Trajectory(walk(0)), prediction)


@given(st.integers(0, 10_000))
def test_umeyama_finds_the_similarity_it_was_made_with(seed):
    rng = np.random.default_rng(seed)
    points, true = rng.normal(size=(12, 3)), motion(seed)
    scale = float(np.exp(rng.normal()))
    target = scale * points @ true[:3, :3].T + true[:3, 3]
    found = fit_similarity(points, target, with_scale=True)
    assert found.scale == pytest.approx(scale)
    np.testing.assert_allclose(found.rotation, true[:3, :3], atol=1e-9)
    np.testing.assert_allclose(found.translation, true[:3, 3], atol=1e-9)


def test_umeyama_never_reflects():
    points = np.random.default_rng(0).normal(size=(9, 3))
    found = fit_similarity(points, points * (1, 1, -1), with_scale=False)
    assert np.linalg.det(found.rotation) == pytest.approx(1)


def test_umeyama_keeps_its_digits_at_map_coordinates():
    points = np.random.default_rng(1).normal(size=(50, 3))
    far = points + np.array([458074.0, 5429380.0, 163.0])
    found = fit_similarity(points, far, with_scale=True)
    assert found.scale == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(found.rotation, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_degenerate_sets_of_points_are_told_apart(count):
    points = np.column_stack([np.arange(count) * 1.0, np.zeros((count, 2))])
    found = fit_similarity(points, points, with_scale=False)
    assert (found is None) == (count == 0)
    assert found is None or found.is_ambiguous


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_rigid_motions_change_only_the_unaligned_error(walk_seed, motion_seed):
    truth = walk(walk_seed)
    estimate = truth @ compose(np.eye(3), np.random.default_rng(walk_seed).normal(0, 0.1, (20, 3)))
    moved = motion(motion_seed) @ estimate
    for metric in (AteOrigin(), AteSe3(), AteSim3(), RPE):
        before, after = run(metric, truth, estimate), run(metric, truth, moved)
        assert after["rmse_m"] == pytest.approx(before["rmse_m"], rel=1e-6, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(0.01, 100))
def test_scale_changes_nothing_after_a_fitted_scale(seed, scale):
    truth, estimate = walk(seed), walk(seed + 1)
    scaled = estimate.copy()
    scaled[:, :3, 3] *= scale
    rpe = RelativeError(RelativeErrorOptions(scale="fitted"))
    for metric in (AteSim3(), rpe):
        before, after = run(metric, truth, estimate), run(metric, truth, scaled)
        assert after["rmse_m"] == pytest.approx(before["rmse_m"], rel=1e-6, abs=1e-9)


@given(st.integers(0, 10_000))
def test_more_freedom_never_makes_a_larger_error(seed):
    truth, estimate = walk(seed), walk(seed + 1)
    none, origin, rigid, similar = (run(metric, truth, estimate)["rmse_m"] for metric in ATE)
    assert similar <= rigid + 1e-9
    assert rigid <= min(none, origin) + 1e-9


@given(st.integers(0, 10_000))
def test_truth_as_estimate_is_perfect(seed):
    truth = walk(seed)
    for metric in (*ATE, RPE):
        values = run(metric, truth, truth)
        assert values["max_m"] == pytest.approx(0, abs=1e-9)
        assert values["rotation_max_deg"] == pytest.approx(0, abs=1e-5)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.data())
def test_folds_and_bytes_keep_every_statistic(seed, data):
    for metric in (*ATE, RPE):
        states = [measure(metric, walk(seed + k), walk(seed + k + 9)) for k in range(3)]
        pooled = metric.result(fold(states))
        stored = [decode_state(metric.State, encode_state(state)) for state in states]
        assert metric.result(fold(data.draw(st.permutations(stored)))) == pytest.approx(pooled)
        nested = fold([fold(states[:1]), fold(states[1:])])
        assert metric.result(nested) == pytest.approx(pooled)


def test_alignment_does_not_change_the_estimate():
    truth, estimate = walk(0), walk(1)
    before = estimate.copy()
    apply_alignment(estimate, align_estimate(truth, estimate, "sim3"))
    np.testing.assert_array_equal(estimate, before)


def test_association_takes_the_nearest_of_the_longer_trajectory():
    truth = np.array([0.0, 0.1, 0.2, 0.3])
    found = associate(truth, np.array([0.104, 0.26]), max_difference=0.02)
    assert (found.truth_indices.tolist(), found.indices.tolist()) == ([1], [0])
    assert found.share == 0.5
    turned = associate(np.array([0.104, 0.26]), truth, max_difference=0.05)
    assert (turned.truth_indices.tolist(), turned.indices.tolist()) == ([0, 1], [1, 3])


def test_association_of_equal_timestamps_takes_the_first():
    found = associate(np.array([0.0, 1, 1, 1, 2]), np.array([1.0, 1.0]), max_difference=0)
    assert found.truth_indices.tolist() == [1, 1]
    assert associate(np.zeros(0), np.array([1.0]), max_difference=1).share == 0


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=15),
    st.lists(st.integers(0, 60), min_size=1, max_size=15),
)
def test_association_equals_looking_at_every_pair(truth, estimate):
    first, second = np.sort(np.array(truth) / 7), np.sort(np.array(estimate) / 7)
    found = associate(first, second, max_difference=0.3)
    turned = len(second) > len(first)
    short, long = (first, second) if turned else (second, first)
    expected = [
        (k, int(np.argmin(np.abs(long - stamp))))
        for k, stamp in enumerate(short)
        if np.abs(long - stamp).min() <= 0.3
    ]
    pairs = zip(found.truth_indices.tolist(), found.indices.tolist(), strict=True)
    assert [pair if turned else pair[::-1] for pair in pairs] == expected
