"""Angles and quaternions of rotations, one or many at a time, accurate at 0 and at 180 degrees.

Angles come from atan2 of a sine and a cosine: the arccos of a trace loses rotations below 0.02
degrees in float32, and is NaN where rounding lifts its argument above 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

QuaternionOrder = Literal["xyzw", "wxyz"]
ORTHONORMAL = 1e-3
"""How far a rotation from text or float32 may be from orthonormal, per element of R·Rᵀ."""


def rotation_angle(rotations: Floats) -> Floats:
    """Angles (...,) in radians, 0 to pi, of rotations (..., 3, 3)."""
    r = rotations
    sine = np.sqrt(
        (r[..., 2, 1] - r[..., 1, 2]) ** 2
        + (r[..., 0, 2] - r[..., 2, 0]) ** 2
        + (r[..., 1, 0] - r[..., 0, 1]) ** 2
    )
    cosine = r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2] - 1
    return np.asarray(np.arctan2(sine, cosine))


def angle_between(first: Floats, second: Floats) -> Floats:
    """Angles (...,) in radians of the rotations that take `first` (..., 3, 3) to `second`.

    That of the nearest rotation, where rounding in a file has made matrices a little oblique.
    """
    return rotation_angle(nearest_rotation(np.swapaxes(first, -1, -2) @ second))


def nearest_rotation(matrices: Floats) -> Floats:
    """The rotations nearest to matrices (..., 3, 3) that are almost one (`ORTHONORMAL`).

    Newton's iteration for the polar factor: the error is squared twice, from 1e-3 to 1e-12.
    """
    for _ in range(2):
        square = np.swapaxes(matrices, -1, -2) @ matrices
        matrices = matrices @ (1.5 * np.eye(3) - 0.5 * square)
    return matrices


def direction_angle(first: Floats, second: Floats) -> Floats:
    """Angles (...,) in radians, 0 to pi, between vectors (..., 3) of any length but zero."""
    # Scaled first: the squares of very short or very long vectors leave the range of floats.
    a, b = (v / np.maximum(np.abs(v).max(axis=-1, keepdims=True), 1e-300) for v in (first, second))
    sine = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.asarray(np.arctan2(sine, (a * b).sum(axis=-1)))


def unit_vector(vector: Floats) -> Floats:
    """A vector (3,) of any length at length 1; zero stays as it is."""
    largest = float(np.abs(vector).max())
    # Scaled first: the squares of very short or very long vectors leave the range of floats.
    scaled = vector / largest if largest > 0 else vector
    length = float(np.linalg.norm(scaled))
    return scaled / length if length > 0 else scaled


def rotations_from_quaternions(quaternions: Floats, *, order: QuaternionOrder) -> Floats:
    """Rotations (..., 3, 3) of quaternions (..., 4), which are normalised first.

    q and -q are the same rotation. The norm must not be zero: see `has_length`.
    """
    q = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
    x, y, z, w = np.moveaxis(q if order == "xyzw" else np.roll(q, -1, axis=-1), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def has_length(quaternions: Floats) -> NDArray[np.bool_]:
    """Which quaternions (..., 4) stand for a rotation: finite and not zero."""
    norms = np.linalg.norm(quaternions, axis=-1)
    return np.asarray(np.isfinite(norms) & (norms > np.finfo(np.float32).eps))


def rotation_fault(rotations: Floats) -> str | None:
    """What is wrong with finite matrices (..., 3, 3) as rotations, or None."""
    residual = rotations @ np.swapaxes(rotations, -1, -2) - np.eye(3)
    worst = float(np.abs(residual).max(initial=0.0))
    if worst > ORTHONORMAL:
        return f"is not orthonormal: R·Rᵀ is off the identity by {worst:.2g}"
    if np.any(np.linalg.det(rotations) < 0):
        return "is a reflection: its determinant is -1"
    return None


def find_faulty(rotations: Floats) -> Indices:
    """Which of finite matrices (n, 3, 3) are no rotations."""
    residual = np.abs(rotations @ np.swapaxes(rotations, -1, -2) - np.eye(3)).max(axis=(1, 2))
    return np.flatnonzero((residual > ORTHONORMAL) | (np.linalg.det(rotations) < 0))
