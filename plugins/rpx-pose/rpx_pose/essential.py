"""The relative pose of two calibrated cameras from matches, some of which are wrong.

Random samples of five matches with a fixed seed, over sorted matches: equal matches, in any order,
give equal bits. The best sample is refined on the matches that follow it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_pose.epipolar import rays, sampson_distance
from rpx_pose.five_point import solve_five_points
from rpx_pose.rigid import skew
from rpx_pose.types import RelativePosePrediction

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_SEED = 5062026
_STEP = 1e-6


@dataclass(frozen=True)
class Robustness:
    """`samples` of five matches are tried; one within `threshold_px` of its line follows."""

    samples: int = 100
    threshold_px: float = 1.0
    refinements: int = 5


@dataclass(frozen=True, eq=False)
class _Motion:
    """b_from_a up to scale: x_b = rotation·x_a + translation, a unit vector."""

    rotation: Floats
    translation: Floats

    def essential(self) -> Floats:
        return np.asarray(skew(self.translation) @ self.rotation)


def estimate_pose(
    matches: tuple[Floats, Floats], cameras: tuple[Floats, Floats], robustness: Robustness
) -> RelativePosePrediction:
    """The pose of the second camera in the first, with a translation of length 1 and no scale.

    `matches` are pixels (n, 2) in both images, `cameras` the intrinsics of both. No pose for fewer
    than six matches: five always agree.
    """
    points0, points1 = matches
    if len(points0) < 6:
        return RelativePosePrediction.no_pose()
    order = np.lexsort((*points1.T, *points0.T))
    rays0, rays1 = rays(points0[order], cameras[0]), rays(points1[order], cameras[1])
    focal = np.mean([camera[i, i] for camera in cameras for i in (0, 1)])
    threshold = robustness.threshold_px / float(focal)
    essential = _search(rays0, rays1, threshold, robustness.samples)
    if essential is None:
        return RelativePosePrediction.no_pose()
    kept = sampson_distance(essential, rays0, rays1) <= threshold
    if kept.sum() < 6:
        return RelativePosePrediction.no_pose()
    motion = _in_front(essential, rays0[kept], rays1[kept])
    for _ in range(robustness.refinements):
        motion = _refine(motion, rays0, rays1, threshold)
    rotation = motion.rotation.T
    return RelativePosePrediction(rotation, -rotation @ motion.translation, scale_known=False)


def _search(rays0: Floats, rays1: Floats, threshold: float, samples: int) -> Floats | None:
    """The candidate with the smallest sum of squared distances, each cut off at the threshold."""
    rng = np.random.default_rng(_SEED)
    picks = rng.random((samples, len(rays0))).argpartition(4, axis=1)[:, :5]
    candidates = solve_five_points(rays0[picks], rays1[picks])
    if not len(candidates):
        return None
    distance = sampson_distance(candidates, rays0, rays1)
    cost = np.minimum(distance, threshold) ** 2
    return np.asarray(candidates[int(cost.sum(axis=1).argmin())])


def _in_front(essential: Floats, rays0: Floats, rays1: Floats) -> _Motion:
    """Of the four motions that share an essential matrix, the one that sees most points."""
    u, _, vt = np.linalg.svd(essential)
    u, vt = u * np.sign(np.linalg.det(u)), vt * np.sign(np.linalg.det(vt))
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    motions = [
        _Motion(u @ quarter @ vt, sign * u[:, 2]) for quarter in (turn, turn.T) for sign in (1, -1)
    ]
    return max(motions, key=lambda motion: int(_count_seen(motion, rays0, rays1)))


def _count_seen(motion: _Motion, rays0: Floats, rays1: Floats) -> int:
    """How many points lie in front of both cameras, where their rays come closest."""
    a = np.column_stack([rays0, np.ones(len(rays0))]) @ motion.rotation.T
    b = np.column_stack([rays1, np.ones(len(rays1))])
    aa, ab, bb = (a * a).sum(axis=1), (a * b).sum(axis=1), (b * b).sum(axis=1)
    at, bt = a @ motion.translation, b @ motion.translation
    # Depths d0, d1 that minimise |d0·a + t - d1·b|, times a determinant that is not negative.
    return int(np.count_nonzero((ab * bt - bb * at > 0) & (aa * bt - ab * at > 0)))


def _refine(motion: _Motion, rays0: Floats, rays1: Floats, threshold: float) -> _Motion:
    """One Gauss-Newton step on the signed Sampson distances of the matches that follow."""
    follows = sampson_distance(motion.essential(), rays0, rays1) <= threshold
    if follows.sum() < 6:
        return motion
    p0, p1 = rays0[follows], rays1[follows]
    base = _signed(motion, p0, p1)
    columns = [(_signed(_move(motion, _STEP * unit), p0, p1) - base) / _STEP for unit in np.eye(5)]
    step, *_ = np.linalg.lstsq(np.column_stack(columns), -base, rcond=None)
    moved = _move(motion, np.asarray(step, np.float64))
    better = np.linalg.norm(_signed(moved, p0, p1)) < np.linalg.norm(base)
    return moved if better else motion


def _move(motion: _Motion, step: Floats) -> _Motion:
    """The motion after a small rotation (3 numbers) and a shift of its direction (2)."""
    _, _, axes = np.linalg.svd(motion.translation[None])
    direction = motion.translation + step[3:] @ axes[1:]
    angle = float(np.linalg.norm(step[:3]))
    axis = skew(step[:3])
    sine = np.sinc(angle / np.pi)
    cosine = np.sinc(angle / (2 * np.pi)) ** 2 / 2
    turn = np.eye(3) + sine * axis + cosine * axis @ axis
    return _Motion(turn @ motion.rotation, direction / np.linalg.norm(direction))


def _signed(motion: _Motion, rays0: Floats, rays1: Floats) -> Floats:
    e = motion.essential()
    a = np.column_stack([rays0, np.ones(len(rays0))])
    b = np.column_stack([rays1, np.ones(len(rays1))])
    lines1, lines0 = a @ e.T, b @ e
    total = (lines1[:, :2] ** 2).sum(axis=1) + (lines0[:, :2] ** 2).sum(axis=1)
    return np.asarray((b * lines1).sum(axis=1) / np.sqrt(np.maximum(total, 1e-300)))
