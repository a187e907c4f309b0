"""Absolute and relative errors of an estimated trajectory, pose by pose.

J. Sturm et al., A benchmark for the evaluation of RGB-D SLAM systems, IROS 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_pose.rigid import relate
from rpx_pose.rotations import angle_between
from rpx_pose.umeyama import Similarity, fit_similarity

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Alignment = Literal["none", "origin", "se3", "sim3"]


@dataclass(frozen=True, eq=False)
class PoseDifferences:
    """Errors (n,) of n poses or steps: metres of translation and degrees of rotation."""

    translation_m: Floats
    rotation_deg: Floats


def align_estimate(truth: Floats, estimate: Floats, alignment: Alignment) -> Similarity | None:
    """The motion from the estimate's world (n, 4, 4) to the truth's; None where it is undefined.

    none: as they are. origin: the first poses coincide. se3, sim3: least squares over positions.
    """
    if alignment == "none":
        return Similarity(np.eye(3), np.zeros(3), 1.0, rank=3)
    if not len(truth):
        return None
    if alignment == "origin":
        rotation = truth[0, :3, :3] @ estimate[0, :3, :3].T
        return Similarity(rotation, truth[0, :3, 3] - rotation @ estimate[0, :3, 3], 1.0, rank=3)
    return fit_similarity(estimate[:, :3, 3], truth[:, :3, 3], with_scale=alignment == "sim3")


def apply_alignment(poses: Floats, alignment: Similarity) -> Floats:
    """Poses (n, 4, 4) in the world that they were aligned to."""
    aligned = poses.copy()
    aligned[:, :3, :3] = alignment.rotation @ poses[:, :3, :3]
    aligned[:, :3, 3] = (
        alignment.scale * poses[:, :3, 3] @ alignment.rotation.T + alignment.translation
    )
    return aligned


def absolute_errors(truth: Floats, estimate: Floats) -> PoseDifferences:
    """Distance and angle between poses (n, 4, 4) of equal index."""
    _check_lengths(truth, estimate)
    return PoseDifferences(
        np.linalg.norm(estimate[:, :3, 3] - truth[:, :3, 3], axis=1),
        np.degrees(angle_between(truth[:, :3, :3], estimate[:, :3, :3])),
    )


def relative_errors(
    truth: Floats, estimate: Floats, starts: Indices, ends: Indices
) -> PoseDifferences:
    """Errors of the motions from poses `starts` to `ends` (k,): those of (Qᵢ⁻¹Qⱼ)⁻¹(Pᵢ⁻¹Pⱼ).

    A rigid motion of either world changes nothing, a scale does.
    """
    _check_lengths(truth, estimate)
    true = relate(truth[starts], truth[ends])
    estimated = relate(estimate[starts], estimate[ends])
    return PoseDifferences(
        np.linalg.norm(relate(true, estimated)[:, :3, 3], axis=1),
        np.degrees(angle_between(true[:, :3, :3], estimated[:, :3, :3])),
    )


def steps_by_frames(poses: int, delta: int, *, every_start: bool) -> tuple[Indices, Indices]:
    """Pairs of pose indices `delta` apart: from every pose, or end to end."""
    starts = np.arange(0, max(poses - delta, 0), 1 if every_start else delta)
    return starts, starts + delta


def steps_by_distance(
    positions: Floats, delta: float, *, every_start: bool
) -> tuple[Indices, Indices]:
    """Pairs of pose indices whose path along positions (n, 3) has about `delta` metres.

    End to end: a step closes at the first pose at which its path reaches `delta`. From every
    start: at the pose at which the path is nearest to `delta`, where that is within a tenth of it.
    """
    lengths = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    path = np.concatenate([[0.0], np.cumsum(lengths)])
    if every_start:
        return _nearest_ends(path, delta)
    starts, ends, start, walked = [], [], 0, 0.0
    for index, length in enumerate(lengths.tolist(), start=1):
        walked += length
        if walked >= delta:
            starts.append(start)
            ends.append(index)
            start, walked = index, 0.0
    return np.array(starts, np.intp), np.array(ends, np.intp)


def _nearest_ends(path: Floats, delta: float) -> tuple[Indices, Indices]:
    starts = np.arange(len(path) - 1)
    goal = path[starts] + delta
    right = np.minimum(np.searchsorted(path, goal), len(path) - 1)
    left = np.maximum(right - 1, starts + 1)
    ends = np.where(np.abs(path[left] - goal) <= np.abs(path[right] - goal), left, right)
    kept = np.flatnonzero(np.abs(path[ends] - goal) <= 0.1 * delta)
    return starts[kept], ends[kept]


def _check_lengths(truth: Floats, estimate: Floats) -> None:
    if truth.shape != estimate.shape:
        raise MetricError(
            f"{len(estimate)} estimated poses for {len(truth)} true ones; associate them first"
        )
