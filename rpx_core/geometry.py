"""Conversions between pose and camera conventions; the one place where they happen."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ManifestError
from rpx_core.magnitudes import METRES, PIXELS, find_absurd

Matrix = NDArray[np.float64]

# T265: x right, y up, z backward. OpenCV: x right, y down, z forward. Both flips are their inverse.
_T265_TO_OPENCV = np.diag([1.0, -1.0, -1.0, 1.0])
_SHORTEST = 1e-7
"""Length below which a quaternion says nothing."""
_ORTHONORMAL = 1e-3
"""How far a rotation read from text or float32 may be from orthonormal."""


def rotation_from_xyzw(quaternion: Matrix, *, name: str) -> Matrix:
    """The 3x3 rotation of a quaternion in x, y, z, w order, normalised first.

    Raises ManifestError for a zero or non-finite quaternion, naming `name`.
    """
    q = np.asarray(quaternion, dtype=np.float64).reshape(-1)
    norm = math.hypot(*q.tolist()) if q.shape == (4,) else 0.0
    if not math.isfinite(norm) or norm < _SHORTEST:
        raise ManifestError(f"{name}: not a rotation quaternion (x, y, z, w): {q.tolist()}")
    x, y, z, w = q / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose_matrix(rotation: Matrix, position: Matrix) -> Matrix:
    """The 4x4 camera-to-world matrix of a 3x3 rotation and a position in metres."""
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = position
    return pose


def opencv_from_t265(pose: Matrix) -> Matrix:
    """A camera-to-world pose in OpenCV axes from T265 axes: S T S, S = diag(1, -1, -1, 1)."""
    return _T265_TO_OPENCV @ pose @ _T265_TO_OPENCV


def check_pose(pose: Matrix, *, name: str) -> Matrix:
    """A 4x4 rigid motion, checked; raises ManifestError for anything else, naming `name`."""
    matrix = np.asarray(pose, dtype=np.float64)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        found = f"not shape {matrix.shape}" if matrix.shape != (4, 4) else "not NaN or infinity"
        raise ManifestError(
            f"{name}: a finite 4x4 pose was expected, {found}",
            hint="leave out the frame, or the key, where no pose is known",
        )
    _check_rotation(matrix[:3, :3], name)
    if np.abs(matrix[3] - [0, 0, 0, 1]).max() > _ORTHONORMAL:
        raise ManifestError(
            f"{name}: the last row of the pose is {_row(matrix[3])}, not 0 0 0 1",
            hint="transpose a matrix that was written column by column",
        )
    absurd = find_absurd(matrix[:3, 3], METRES)
    if absurd is not None:
        raise ManifestError(f"{name}: the position {absurd}", hint="positions are metres")
    return matrix


def _check_rotation(rotation: Matrix, name: str) -> None:
    # Bounded first: huge numbers would overflow.
    if np.abs(rotation).max() > 2:
        off = float(np.abs(rotation).max())
        fault = f"has an element of size {off:.3g}"
    else:
        off = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
        fault = f"R·Rᵀ is off the identity by {off:.3g}, {_ORTHONORMAL:g} at most was expected"
    if off > _ORTHONORMAL:
        raise ManifestError(
            f"{name}: the rotation of the pose is not orthonormal: {fault}",
            hint="write it with more digits, take out a scale, or store a quaternion",
        )
    if np.linalg.det(rotation) < 0:
        raise ManifestError(
            f"{name}: the rotation of the pose is a reflection: its determinant is "
            f"{np.linalg.det(rotation):.3g}",
            hint="one axis points the wrong way: convert between conventions on both sides, "
            "S·T·S, or declare `pose_convention`",
        )


def _row(numbers: Matrix) -> str:
    return " ".join(f"{number:.4g}" for number in numbers)


def check_intrinsics(matrix: Matrix, *, name: str) -> Matrix:
    """A 3x3 pinhole matrix, checked; raises ManifestError for anything else, naming `name`."""
    k = np.asarray(matrix, dtype=np.float64)
    if k.shape != (3, 3) or not np.isfinite(k).all() or k[0, 0] <= 0 or k[1, 1] <= 0:
        raise ManifestError(
            f"{name}: a finite 3x3 camera matrix with positive focal lengths was expected"
        )
    absurd = find_absurd(k, PIXELS)
    if absurd is not None:
        raise ManifestError(f"{name}: the camera matrix {absurd}", hint="it is in pixels")
    # The principal point in the last row would be the transposed matrix that Matlab writes.
    if np.abs(k[2] - [0, 0, 1]).max() > _ORTHONORMAL:
        raise ManifestError(f"{name}: the last row of a 3x3 camera matrix is 0 0 1")
    return k
