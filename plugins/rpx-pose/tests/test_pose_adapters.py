"""Plain functions as pose estimators and matchers."""

import numpy as np
import pytest

from rpx_core.contracts import Runtime, Sample, withhold
from rpx_core.errors import AdapterError
from rpx_pose import published
from rpx_pose.adapters import NumpyPoseOptions, wrap_keypoints, wrap_pose, wrap_trajectory
from rpx_pose.types import PairQuery, Trajectory, TrajectoryQuery

HALF = 0.5**0.5


@pytest.fixture
def runtime(tmp_path):
    return Runtime("cpu", 0, tmp_path)


def pair_sample() -> Sample:
    image = np.full((6, 8, 3), 90, np.uint8)
    return withhold(Sample("p7", rgb=image, query=PairQuery(image.copy())))


def answer_turn(rgb_a, rgb_b):
    rgb_a[:] = 0
    return {"rotation_xyzw": [0, 0, HALF, HALF], "translation": [1, 0, 0]}


def test_function_that_names_its_quaternion_is_a_pose_model(runtime):
    sample = pair_sample()
    (answer,) = published.make_numpy_pose_model(answer_turn, name="turn").predict([sample])
    np.testing.assert_allclose(answer.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)
    assert sample.rgb.any()
    model = wrap_pose(answer_turn, NumpyPoseOptions(maps="a_to_b", scale="unknown"), runtime)
    (turned,) = model.predict([sample])
    np.testing.assert_allclose(turned.rotation, answer.rotation.T, atol=1e-12)
    np.testing.assert_allclose(turned.translation, [0, 1, 0], atol=1e-12)
    assert not turned.scale_known


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (([0, 0, 0, 1.0], [1, 0, 0]), "which order"),
        ({"rotation": [0, 0, 0, 1.0], "translation": [1, 0, 0]}, "which order"),
        ({"rotation": np.eye(3)}, "and `translation`"),
        ({"rotation_wxyz": [0, 0, 0, 0], "translation": [1, 0, 0]}, "zero"),
        ((np.eye(3), [1, 0]), "2 numbers"),
        (np.eye(3), r"4x4 pose was expected, not shape \(3, 3\)"),
        (3, "int"),
        ((np.diag([1, 1, -1]), [1, 0, 0]), "reflection"),
    ],
)
def test_function_that_returns_something_else_is_told_so(answer, words):
    model = published.make_numpy_pose_model(lambda a, b: answer, name="mine")
    with pytest.raises(AdapterError, match=f"p7.*mine.*{words}") as caught:
        model.predict([pair_sample()])
    if "order" in words:
        assert "rotation_xyzw" in caught.value.hint


def test_function_may_answer_a_4x4_pose(runtime):
    pose = np.eye(4)
    pose[:3, 3] = 1, 2, 3
    (found,) = published.make_numpy_pose_model(lambda a, b: pose, name="m").predict([pair_sample()])
    assert found.translation.tolist() == [1, 2, 3]
    model = wrap_pose(lambda a, b: pose, NumpyPoseOptions(maps="a_to_b"), runtime)
    assert model.predict([pair_sample()])[0].translation.tolist() == [-1, -2, -3]


def test_function_may_answer_that_there_is_no_pose():
    model = published.make_numpy_pose_model(lambda a, b: None, name="shy")
    assert model.predict([pair_sample()])[0].rotation is None


STAMPS = np.array([0.5, 1.0, 1.5])


def tracking_sample() -> Sample:
    return withhold(Sample("t3", query=TrajectoryQuery(STAMPS)))


@pytest.mark.parametrize(
    ("answer", "stamps"),
    [
        (np.tile(np.eye(4), (3, 1, 1)), STAMPS),
        ([np.eye(4).tolist()] * 3, STAMPS),
        ((np.tile(np.eye(4), (2, 1, 1)), [0.5, 1.5]), [0.5, 1.5]),
        ({"poses": [np.eye(4)], "timestamps": [1]}, [1]),
        (Trajectory(np.eye(4)[None], np.array([1.0])), [1]),
    ],
)
def test_function_of_timestamps_is_a_tracker(answer, stamps):
    asked = []
    model = published.make_numpy_trajectory_model(
        lambda times: (asked.append(times.tolist()), times.fill(0), answer)[2], name="mine"
    )
    (found,) = model.predict([tracking_sample()])
    assert asked == [STAMPS.tolist()]
    assert found.timestamps.tolist() == list(stamps)
    assert found.poses.shape == (len(stamps), 4, 4)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.tile(np.eye(4), (2, 1, 1)), "2 poses, but 3 were asked for"),
        (None, "None; poses"),
        ({"poses": []}, "dict; poses"),
        (([["a"]], [1]), "`poses` is a list of dtype"),
    ],
)
def test_function_of_timestamps_that_returns_something_else_is_told_so(runtime, answer, words):
    def mine(stamps):
        return answer

    with pytest.raises(AdapterError, match=f"t3: what mine returned: .*{words}"):
        wrap_trajectory(mine, None, runtime).predict([tracking_sample()])


def test_function_of_two_images_is_a_matcher(runtime):
    def corners(rgb_a, rgb_b):
        return [[0, 0], [5, 5]], [[1, 0], [6, 5]]

    (found,) = published.make_numpy_keypoint_model(corners, name="corners").predict([pair_sample()])
    assert found.points1.tolist() == [[1, 0], [6, 5]]
    with pytest.raises(AdapterError, match=r"p7.*<lambda>.*int"):
        wrap_keypoints(lambda a, b: 3, None, runtime).predict([pair_sample()])
