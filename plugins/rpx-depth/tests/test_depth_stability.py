"""Temporal stability as pair metrics: what they reward, what is undefined, as published."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample, Undefined
from rpx_core.geometry import opencv_from_t265
from rpx_core.state import fold
from rpx_core.testing import values_of
from rpx_depth.metrics.stability import DepthStability, PublishedDepthStability
from rpx_depth.published import compute_temporal_stability_depth
from rpx_depth.types import DepthGroundTruth, DepthPrediction

CAMERA = np.array([[40.0, 0, 19.5], [0, 40, 14.5], [0, 0, 1]])
METRIC, PUBLISHED = DepthStability(), PublishedDepthStability()
ABSENT = object()


def pose_at(z: float, roll: float = 0.0) -> np.ndarray:
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(roll), -np.sin(roll)], [np.sin(roll), np.cos(roll)]]
    pose[2, 3] = z
    return pose


def wall(z: float) -> np.ndarray:
    """What a camera at z sees of a wall at 3 m."""
    return np.full((30, 40), 3.0 - z, np.float32)


def frame(truth, prediction, pose=ABSENT, intrinsics=CAMERA) -> Frame:
    pose = pose_at(3 - float(np.max(truth))) if pose is ABSENT else pose
    sample = Sample("s", camera_pose=pose, intrinsics=intrinsics)
    truth = DepthGroundTruth(np.asarray(truth, np.float32))
    return Frame(sample, truth, DepthPrediction(np.asarray(prediction)))


def score(metric, *frames: Frame) -> dict:
    return dict(values_of(metric, metric.measure(*frames)))


def test_following_the_true_change_scores_one():
    got = score(METRIC, frame(wall(0), wall(0)), frame(wall(0.5), wall(0.5)))
    assert got["ts"] == 1
    # Forward motion: the outer pixels leave the image, the others land on distinct pixels.
    assert 0.5 < got["ts_coverage"] < 1


def test_a_constant_bias_does_not_count_as_change():
    got = score(METRIC, frame(wall(0), wall(0) + 0.25), frame(wall(0.5), wall(0.5) + 0.25))
    assert got["ts"] == 1


def test_a_constant_predictor_scores_zero():
    constant = np.full((30, 40), 2.0)
    assert score(METRIC, frame(wall(0), constant), frame(wall(0.5), constant))["ts"] == 0


def test_flicker_against_the_motion_scores_below_zero():
    got = score(METRIC, frame(wall(0), wall(0)), frame(wall(0.5), wall(0) + 0.5))
    assert got["ts"] == pytest.approx(-1)


def test_abstaining_costs_coverage():
    half = wall(0.5).copy()
    half[:15] = np.nan
    whole = score(METRIC, frame(wall(0), wall(0)), frame(wall(0.5), wall(0.5)))
    part = score(METRIC, frame(wall(0), wall(0)), frame(wall(0.5), half))
    assert part["ts"] == 1
    assert part["ts_coverage"] == pytest.approx(whole["ts_coverage"] / 2, rel=0.05)


def test_a_still_camera_before_a_still_scene_has_no_score():
    still = score(METRIC, frame(wall(0), wall(0)), frame(wall(0), wall(0) + 1, pose_at(0)))
    assert still == {"ts": None, "ts_coverage": 1}


@pytest.mark.parametrize("answer", [np.nan, np.inf, 0.0, -1.0])
def test_an_answer_that_is_no_depth_is_none(answer):
    later = wall(0.5)
    later[10, 20] = answer
    whole = METRIC.measure(frame(wall(0), wall(0)), frame(wall(0.5), wall(0.5)))
    part = METRIC.measure(frame(wall(0), wall(0)), frame(wall(0.5), later))
    assert (part.answered, part.error) == (whole.answered - 1, 0)


@pytest.mark.parametrize(
    ("missing", "reason"),
    [("pose", "the camera pose is not known"), ("intrinsics", "the intrinsics are not known")],
)
def test_pair_without_camera_says_what_is_missing(missing, reason):
    lost = frame(wall(0.5), wall(0.5), **{missing: None})
    whole = frame(wall(0), wall(0))
    assert METRIC.measure(whole, lost) == METRIC.measure(lost, whole) == Undefined(reason)


def test_pair_whose_first_frame_has_no_truth_is_undefined():
    nothing = frame(np.zeros((30, 40)), wall(0), pose_at(0))
    measured = METRIC.measure(nothing, frame(wall(0.5), wall(0.5)))
    assert measured == Undefined("no pixel of the earlier frame has a depth")


def test_mean_over_pairs_and_pooled_pixels_differ():
    good = METRIC.measure(frame(wall(0), wall(0)), frame(wall(1), wall(1)))
    still = METRIC.measure(frame(wall(0), wall(0)), frame(wall(0.1), wall(0)))
    assert [values_of(METRIC, state)["ts"] for state in (good, still)] == [1, pytest.approx(0)]
    pooled = values_of(METRIC, fold([good, still]))["ts"]
    changes = [float(state.true_change) for state in (good, still)]
    assert pooled == pytest.approx(changes[0] / sum(changes))
    assert METRIC.outputs["ts"].headline == "sample"


def test_published_worked_example():
    before, now = np.float32([[1, 2, 3]]), np.float32([[1.1, 2, 2.9]])
    frames = [frame(one, one, pose=None) for one in (before, now)]
    assert score(PUBLISHED, *frames)["ts"] == pytest.approx(0.9667, abs=5e-5)


def test_published_rule_is_undefined_where_the_function_says_one():
    frames = [frame(wall(0), np.zeros((30, 40))), frame(wall(0), np.ones((30, 40)))]
    assert PUBLISHED.measure(*frames) == Undefined("the two maps share no depth")
    maps = [one.prediction.depth_map for one in frames]
    assert compute_temporal_stability_depth(maps, [None, None]).ts_score == 1


def test_published_rule_turns_by_the_roll_in_t265_axes():
    rng = np.random.default_rng(0)
    maps = [rng.uniform(1, 2, (30, 40)) for _ in range(2)]
    poses = [pose_at(0), pose_at(0.1, roll=0.3)]
    frames = [
        frame(wall(0), depth, pose=opencv_from_t265(pose))
        for depth, pose in zip(maps, poses, strict=True)
    ]
    expected = compute_temporal_stability_depth(maps, poses).ts_score
    assert score(PUBLISHED, *frames)["ts"] == pytest.approx(expected, rel=1e-9)
    turned_back = compute_temporal_stability_depth(maps, poses[::-1]).ts_score
    assert expected != pytest.approx(turned_back, abs=1e-3)


def test_published_rule_undoes_a_roll_of_the_camera():
    # The camera rolls to the right: in OpenCV axes a positive turn about the optical axis, and
    # the picture turns to the left by as much.
    rows, columns = np.mgrid[0:60, 0:60]
    before = 1 + 0.01 * columns + 0.02 * rows
    roll = 0.2
    x, y = columns - 30, rows - 30
    right, down = np.cos(roll) * x - np.sin(roll) * y, np.sin(roll) * x + np.cos(roll) * y
    now = 1 + 0.01 * (right + 30) + 0.02 * (down + 30)
    first = frame(before, before, pose_at(0))
    undone, ignored, doubled = (
        score(PUBLISHED, first, frame(before, now, pose_at(0, turn)))["ts"]
        for turn in (roll, 0, -roll)
    )
    assert undone > 0.98 > ignored > doubled


def test_published_mean_is_over_pairs():
    first, second = np.float32([[1, 2, 3]]), np.float32([[1.1, 2, 2.9]])
    frames = [frame(one, one, pose=None) for one in (first, second, second)]
    states = [PUBLISHED.measure(*frames[:2]), PUBLISHED.measure(*frames[1:])]
    maps = [one.prediction.depth_map for one in frames]
    result = compute_temporal_stability_depth(maps, [None] * 3)
    assert values_of(PUBLISHED, fold(states))["ts"] == pytest.approx(result.ts_score)
    assert (result.num_pairs, len(result.per_pair)) == (2, 2)
