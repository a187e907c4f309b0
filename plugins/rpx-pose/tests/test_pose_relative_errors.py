"""Rotation, direction and translation errors, and the conventions of relative poses."""

import numpy as np
import pytest

from rpx_core.errors import MetricError
from rpx_core.geometry import opencv_from_t265
from rpx_pose.relative_errors import RelativePoses, measure_pose_errors
from rpx_pose.rigid import compose, relate
from rpx_pose.rotations import rotations_from_quaternions


def turn(axis: str, degrees: float) -> np.ndarray:
    vector = np.eye(3)["xyz".index(axis)]
    half = np.radians(degrees) / 2
    return rotations_from_quaternions(np.append(np.sin(half) * vector, np.cos(half)), order="xyzw")


def poses(*pairs: tuple[np.ndarray, tuple[float, float, float]]) -> RelativePoses:
    rotations, translations = zip(*pairs, strict=True)
    return RelativePoses(np.array(rotations), np.array(translations, float))


# The published example: 10 degrees, sqrt(2) m, 90 and 90 degrees.
def test_published_example():
    errors = measure_pose_errors(poses((turn("z", 10), (1, 0, 0))), poses((np.eye(3), (0, 1, 0))))
    assert errors.rotation_deg[0] == pytest.approx(10)
    assert errors.translation_m[0] == pytest.approx(2**0.5)
    assert errors.direction_deg[0] == pytest.approx(90)
    assert errors.max_deg("signed")[0] == pytest.approx(90)


# RW-073: both answers exist, under two names; a rotation is never folded.
def test_opposite_translation_is_wrong_signed_and_right_folded():
    errors = measure_pose_errors(poses((np.eye(3), (1, 0, 0))), poses((turn("x", 180), (-2, 0, 0))))
    assert errors.direction_deg[0] == pytest.approx(180)
    assert errors.folded_deg[0] == pytest.approx(0, abs=1e-9)
    assert errors.rotation_deg[0] == pytest.approx(180)
    assert errors.max_deg("folded")[0] == pytest.approx(180)


def test_direction_of_a_still_truth_is_undefined_and_of_a_still_prediction_the_largest():
    still, moving = poses((np.eye(3), (0, 0, 0))), poses((np.eye(3), (0, 0, 1)))
    undefined = measure_pose_errors(still, moving)
    assert not undefined.has_direction[0]
    assert undefined.translation_m[0] == 1
    largest = measure_pose_errors(moving, still)
    assert (largest.direction_deg[0], largest.folded_deg[0]) == (180, 90)


def test_a_pair_without_pose_has_the_largest_angles():
    truth = poses((np.eye(3), (0, 0, 1)), (np.eye(3), (0, 0, 1)))
    answer = RelativePoses(truth.rotations, truth.translations, np.array([True, False]))
    errors = measure_pose_errors(truth, answer)
    assert errors.rotation_deg.tolist() == [0, 180]
    assert errors.direction_deg.tolist() == [0, 180]


def test_different_numbers_of_poses_are_refused():
    one, two = poses((np.eye(3), (0, 0, 1))), poses(*[(np.eye(3), (0, 0, 1))] * 2)
    with pytest.raises(MetricError, match="2 predicted poses for 1"):
        measure_pose_errors(one, two)


# RW-077: 30 degrees about y going backwards in T265 axes is -30 going forwards in OpenCV's.
def test_t265_axes_become_opencv_axes():
    b_from_world = opencv_from_t265(compose(turn("y", 30), np.array([0.0, 0, -1])))
    truth = poses((b_from_world[:3, :3], tuple(b_from_world[:3, 3])))
    errors = measure_pose_errors(truth, poses((turn("y", -30), (0, 0, 1))))
    assert errors.rotation_deg[0] == pytest.approx(0, abs=1e-6)
    assert errors.direction_deg[0] == pytest.approx(0, abs=1e-6)


# RW-078: of points from camera a to camera b; the pose of b in a is the inverse.
def test_points_from_a_to_b_and_the_pose_of_b_in_a_are_inverse():
    world_from_a, world_from_b = np.eye(4), compose(turn("z", 90), np.array([1.0, 0, 0]))
    b_from_a = relate(world_from_b, world_from_a)
    np.testing.assert_allclose(b_from_a[:3, :3], turn("z", -90), atol=1e-12)
    np.testing.assert_allclose(b_from_a[:3, 3], [0, 1, 0], atol=1e-12)
    a_from_b = relate(world_from_a, world_from_b)
    np.testing.assert_allclose(a_from_b, np.linalg.inv(world_from_a) @ world_from_b, atol=1e-12)
    np.testing.assert_allclose(np.linalg.inv(a_from_b), b_from_a, atol=1e-12)


def test_relative_pose_far_from_the_origin_keeps_its_digits():
    far = np.array([458074.0, 5429380.0, 163.0])
    step = np.array([0.25, 0, 0])
    first, second = turn("x", 33), turn("x", 34)
    near = relate(compose(first, np.zeros(3)), compose(second, step))
    found = relate(compose(first, far), compose(second, far + step))
    np.testing.assert_allclose(found, near, atol=1e-14)
