"""Epipolar geometry of two cameras: essential and fundamental matrices, distances of matches.

`relative` is the pose of camera b in camera a, x_a = R·x_b + t. A point x_a and its match x_b, as
homogeneous rays, fulfil x_bᵀ·E·x_a = 0 with E = [t']ₓ·R' of the inverse motion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_pose.rigid import skew
from rpx_pose.types import RelativePoseGroundTruth

Floats = NDArray[np.float64]


def essential_matrix(relative: RelativePoseGroundTruth) -> Floats:
    """E (3, 3) with x_bᵀ·E·x_a = 0 for rays of matching points; zero where nothing moves."""
    back = relative.rotation.T
    return np.asarray(skew(-back @ relative.translation) @ back)


def fundamental_matrix(essential: Floats, intrinsics_a: Floats, intrinsics_b: Floats) -> Floats:
    """F (3, 3) with p_bᵀ·F·p_a = 0 for pixels, scaled to a norm of 1 where that is possible."""
    f: Floats = np.linalg.inv(intrinsics_b).T @ essential @ np.linalg.inv(intrinsics_a)
    norm = float(np.linalg.norm(f))
    return f / norm if norm else f


def rays(points: Floats, intrinsics: Floats) -> Floats:
    """Pixels (n, 2) as points (n, 2) of the plane at depth 1."""
    homogeneous = np.column_stack([points, np.ones(len(points))])
    directions = homogeneous @ np.linalg.inv(intrinsics).T
    return np.asarray(directions[:, :2] / directions[:, 2:])


def sampson_distance(f: Floats, points0: Floats, points1: Floats) -> Floats:
    """First-order distance (..., n) of matches from fulfilling F (..., 3, 3), in the points' unit.

    (p1ᵀ·F·p0)² / (|F·p0|² + |Fᵀ·p1|²), each over its first two coordinates; the root of it.
    """
    product, lines1, lines0 = _incidence(f, points0, points1)
    total = (lines1[..., :2, :] ** 2).sum(axis=-2) + (lines0[..., :2, :] ** 2).sum(axis=-2)
    return np.asarray(np.abs(product) / np.sqrt(np.maximum(total, 1e-300)))


def symmetric_distance(e: Floats, points0: Floats, points1: Floats) -> Floats:
    """Squared distances (n,) of each point from the line of its match, both images added.

    (x1ᵀ·E·x0)² · (1/|E·x0|² + 1/|Eᵀ·x1|²), each over its first two coordinates: what SuperGlue and
    LoFTR threshold, in coordinates of the plane at depth 1.
    """
    product, lines1, lines0 = _incidence(e, points0, points1)
    first = np.maximum((lines1[..., :2, :] ** 2).sum(axis=-2), 1e-300)
    second = np.maximum((lines0[..., :2, :] ** 2).sum(axis=-2), 1e-300)
    return np.asarray(product**2 * (1 / first + 1 / second))


def _incidence(f: Floats, points0: Floats, points1: Floats) -> tuple[Floats, Floats, Floats]:
    """p1ᵀ·F·p0 (..., n), and the lines F·p0 and Fᵀ·p1 (..., 3, n)."""
    ones = np.ones(len(points0))
    p0, p1 = np.stack([*points0.T, ones]), np.stack([*points1.T, ones])
    lines1 = f @ p0
    lines0 = np.swapaxes(f, -1, -2) @ p1
    return (p1 * lines1).sum(axis=-2), lines1, lines0
