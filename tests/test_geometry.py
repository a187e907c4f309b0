"""Conventions of poses and cameras, by asymmetric examples, and refusals of what is neither."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rpx_core.errors import ManifestError
from rpx_core.geometry import (
    check_intrinsics,
    check_pose,
    opencv_from_t265,
    pose_matrix,
    rotation_from_xyzw,
)

# A quarter turn about z: x goes to y.
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
HALF = np.sqrt(0.5)

components = st.floats(-10, 10, allow_nan=False)
quaternions = hnp.arrays(np.float64, 4, elements=components).filter(
    lambda q: np.linalg.norm(q) > 1e-3
)


@pytest.mark.parametrize(
    ("xyzw", "rotated"),
    [
        ([0, 0, HALF, HALF], QUARTER @ [1, 2, 3]),
        ([0, 0, 0, 1], [1, 2, 3]),
        ([1, 0, 0, 0], [1, -2, -3]),
        ([HALF, 0, 0, HALF], [1, -3, 2]),
        ([0, HALF, 0, HALF], [3, 2, -1]),
    ],
)
def test_quaternions_are_in_xyzw_order(xyzw: list[float], rotated: Any) -> None:
    rotation = rotation_from_xyzw(np.array(xyzw), name="q")
    np.testing.assert_allclose(rotation @ [1, 2, 3], rotated, atol=1e-15)


@given(quaternions, st.floats(0.1, 100))
def test_any_quaternion_gives_a_rotation_whatever_its_length(q: Any, scale: float) -> None:
    rotation = rotation_from_xyzw(q, name="q")
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    np.testing.assert_allclose(rotation_from_xyzw(-q * scale, name="q"), rotation, atol=1e-12)


@pytest.mark.parametrize(
    "quaternion",
    [[0, 0, 0, 0], [1e-9, 0, 0, 0], [np.nan, 0, 0, 1], [np.inf, 0, 0, 1], [0, 0, 1], [1] * 5],
)
def test_what_is_no_rotation_is_refused(quaternion: list[float]) -> None:
    with pytest.raises(ManifestError, match="frame-3: not a rotation quaternion"):
        rotation_from_xyzw(np.array(quaternion), name="frame-3")


def test_t265_axes_become_opencv_axes() -> None:
    # A T265 camera at (1, 2, 3) that looks along -z of its world, y up: in OpenCV axes of the
    # same world turned likewise it stands at (1, -2, -3) and looks along +z.
    pose = opencv_from_t265(pose_matrix(np.eye(3), np.array([1.0, 2.0, 3.0])))
    np.testing.assert_array_equal(pose, pose_matrix(np.eye(3), np.array([1.0, -2.0, -3.0])))
    # Turned a quarter about T265's y (up): about -y in OpenCV, where y is down.
    turn = rotation_from_xyzw(np.array([0, HALF, 0, HALF]), name="q")
    turned = opencv_from_t265(pose_matrix(turn, np.zeros(3)))
    expected = rotation_from_xyzw(np.array([0, -HALF, 0, HALF]), name="q")
    np.testing.assert_allclose(turned[:3, :3], expected, atol=1e-15)


@given(quaternions, hnp.arrays(np.float64, 3, elements=components))
def test_the_conversion_undoes_itself_and_stays_rigid(q: Any, position: Any) -> None:
    pose = pose_matrix(rotation_from_xyzw(q, name="q"), position)
    np.testing.assert_allclose(opencv_from_t265(opencv_from_t265(pose)), pose)
    check_pose(opencv_from_t265(pose), name="pose")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p: p[:3], r"a finite 4x4 pose was expected, not shape \(3, 4\)"),
        (lambda p: np.full((4, 4), np.nan), "pose was expected, not NaN or infinity"),
        (lambda p: p * 2, "off the identity by 3, 0.001 at most.*hint: .*scale"),
        (lambda p: np.diag([1.0, 1.0, -1.0, 1.0]), "reflection: its determinant is -1"),
        (lambda p: p.T, "last row of the pose is 1 2 3 1, not 0 0 0 1.*hint: transpose"),
        (lambda p: p + np.diag([0.01, 0, 0, 0]), "not orthonormal: .* by 0.01"),
        (lambda p: np.full((4, 4), 1e200), "not orthonormal"),
        (lambda p: np.full((4, 4), 1e200) * [1, -1, 1, -1], "not orthonormal"),
        (lambda p: np.zeros((4, 4)), "not orthonormal"),
        (lambda p: p + np.outer([1, 0, 0, 0], [0, 0, 0, 1e9]), "position holds 1e"),
    ],
)
def test_poses_that_are_no_rigid_motion_are_refused(change: Any, says: str) -> None:
    pose = pose_matrix(QUARTER, np.array([1.0, 2.0, 3.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ManifestError, match=f"(?s)frame-3: .*{says}"):
            check_pose(change(pose), name="frame-3")


def test_a_pose_read_from_single_precision_is_accepted() -> None:
    pose = pose_matrix(rotation_from_xyzw(np.array([0.1, 0.2, 0.3, 0.4]), name="q"), np.ones(3))
    check_pose(pose.astype(np.float32), name="pose")


CAMERA = np.array([[500.0, 0.0, 320.0], [0.0, 510.0, 240.0], [0.0, 0.0, 1.0]])


def test_a_camera_matrix_is_accepted_as_it_is() -> None:
    np.testing.assert_array_equal(check_intrinsics(CAMERA, name="k"), CAMERA)


@pytest.mark.parametrize(
    "matrix",
    [
        CAMERA.T,
        -CAMERA,
        CAMERA * 0,
        CAMERA[:2],
        np.full((3, 3), np.nan),
        np.where(CAMERA > 400, np.inf, CAMERA),
        CAMERA.reshape(1, 3, 3),
        CAMERA * 2,
    ],
)
def test_what_is_no_camera_matrix_is_refused(matrix: Any) -> None:
    # The transposed one is how Matlab writes it.
    with pytest.raises(ManifestError, match=r"frame-3: .* 3x3 camera matrix"):
        check_intrinsics(matrix, name="frame-3")


def test_a_camera_matrix_of_absurd_size_is_refused() -> None:
    absurd = CAMERA + np.diag([1e300, 0, 0])
    with pytest.raises(ManifestError, match=r"frame-3: the camera matrix holds 1e\+300"):
        check_intrinsics(absurd, name="frame-3")
