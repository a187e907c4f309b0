"""Angles of rotations and the order of quaternions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.errors import ModelError
from rpx_pose.rotations import (
    angle_between,
    direction_angle,
    nearest_rotation,
    rotation_angle,
    rotation_fault,
    rotations_from_quaternions,
)
from rpx_pose.types import RelativePosePrediction

AXES = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [-1, 2, 0.5]], float)
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)
HALF = 0.5**0.5


def turn(axis: np.ndarray, radians: float) -> np.ndarray:
    quaternion = np.append(np.sin(radians / 2) * axis, np.cos(radians / 2))
    return rotations_from_quaternions(quaternion, order="xyzw")


# RW-072: arccos(trace / 3) would say 70.5 degrees for 90.
@pytest.mark.parametrize("degrees", [0, 1e-6, 30, 90, 120, 179.999, 180])
@pytest.mark.parametrize("axis", AXES)
def test_angle_about_any_axis(axis, degrees):
    angle = np.degrees(rotation_angle(turn(axis, np.radians(degrees))))
    assert angle == pytest.approx(degrees, abs=1e-10)


# RW-070: a trace of 3 + epsilon is an angle of 0, not NaN.
def test_trace_above_three_is_no_rotation_at_all():
    assert angle_between(np.eye(3), np.eye(3) * 1.0000001) == 0


def test_rounded_copies_of_rotations_have_no_large_and_no_undefined_angle():
    rng = np.random.default_rng(1470)
    quaternions = rng.normal(size=(3000, 4))
    rotations = rotations_from_quaternions(quaternions, order="xyzw")
    degrees = np.degrees(angle_between(rotations.astype(np.float32).astype(float), rotations))
    assert np.isfinite(degrees).all()
    assert degrees.max() < 1e-3


# RW-071: arccos of the trace gives 0 in float32.
def test_tiny_rotation_stored_as_float32_keeps_its_angle():
    tiny = turn(AXES[2], 1e-5).astype(np.float32).astype(float)
    assert np.degrees(angle_between(np.eye(3), tiny)) == pytest.approx(0.000572958, abs=1e-6)


# RW-075: the quaternion of a file in x, y, z, w order.
def test_the_order_of_a_quaternion_decides_the_rotation():
    q = np.array([0, 0, HALF, HALF])
    xyzw, wxyz = (rotations_from_quaternions(q, order=order) for order in ("xyzw", "wxyz"))
    assert np.degrees(rotation_angle(xyzw)) == pytest.approx(90)
    assert np.degrees(rotation_angle(wxyz)) == pytest.approx(180)
    assert np.degrees(angle_between(xyzw, wxyz)) == pytest.approx(120)


# RW-076: q, -q and 2q are the same rotation.
@pytest.mark.parametrize("other", [(-HALF, 0, 0, -HALF), (2, 0, 0, 2)])
def test_sign_and_length_of_a_quaternion_do_not_matter(other):
    same = RelativePosePrediction.from_wxyz((HALF, 0, 0, HALF), np.zeros(3)).rotation
    again = RelativePosePrediction.from_wxyz(other, np.zeros(3)).rotation
    assert np.degrees(angle_between(same, again)) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("quaternion", [(0, 0, 0, 0), (1, 0, 0), np.eye(4)])
def test_what_is_no_quaternion_is_refused(quaternion):
    with pytest.raises(ModelError, match="quaternion"):
        RelativePosePrediction.from_xyzw(quaternion, np.zeros(3))


def test_a_quaternion_that_is_not_finite_gives_no_rotation():
    rotation = RelativePosePrediction.from_xyzw((0, 0, np.nan, 1), np.zeros(3)).rotation
    assert np.isnan(rotation).all()


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.eye(3) * 1.01, "orthonormal"),
        (np.diag([1.0, 1, -1]), "reflection"),
        (np.zeros((3, 3)), "orthonormal"),
    ],
)
def test_matrices_that_are_no_rotations_are_told_apart(matrix, words):
    assert words in rotation_fault(matrix)


def test_rotations_of_text_files_pass():
    assert rotation_fault(turn(AXES[4], 1.2).round(4)) is None


@given(st.integers(0, 2**32 - 1), st.floats(1e-9, 4e-4))
def test_nearest_rotation_is_orthonormal_and_near(seed, size):
    rng = np.random.default_rng(seed)
    rotation = rotations_from_quaternions(rng.normal(size=4), order="xyzw")
    oblique = rotation + rng.uniform(-size, size, (3, 3))
    nearest = nearest_rotation(oblique)
    np.testing.assert_allclose(nearest @ nearest.T, np.eye(3), atol=1e-10)
    u, _, vt = np.linalg.svd(oblique)
    np.testing.assert_allclose(nearest, u @ vt, atol=1e-10)


# RW-073: the angle between opposite directions is 180 degrees, whatever their length.
@pytest.mark.parametrize("length", [1e-200, 1e-12, 2, 1e12, 1e200])
def test_opposite_directions_are_180_degrees_apart(length):
    angle = np.degrees(direction_angle(np.array([1.0, 0, 0]), np.array([-length, 0, 0])))
    assert angle == pytest.approx(180)


@given(st.integers(0, 2**32 - 1))
def test_angle_is_symmetric_and_unchanged_by_a_common_turn(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rotations_from_quaternions(rng.normal(size=(3, 4)), order="wxyz")
    angle = angle_between(a, b)
    assert angle_between(b, a) == pytest.approx(angle, abs=1e-12)
    assert angle_between(c @ a, c @ b) == pytest.approx(angle, abs=1e-12)
    assert 0 <= angle <= np.pi
