"""The published names of this package, with their published signatures."""

from __future__ import annotations

from rpx_pose.adapters import (
    NumpyKeypointModel,
    NumpyPoseModel,
    NumpyPoseOptions,
    NumpyTrajectoryModel,
    PairFunction,
    TrajectoryFunction,
)
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    RelativePoseGroundTruth,
    RelativePosePrediction,
    Trajectory,
    TrajectoryPrediction,
)

__all__ = [
    "KeypointCorrespondenceGroundTruth",
    "KeypointCorrespondencePrediction",
    "RelativePoseGroundTruth",
    "RelativePosePrediction",
    "Trajectory",
    "TrajectoryPrediction",
    "make_numpy_keypoint_model",
    "make_numpy_pose_model",
    "make_numpy_trajectory_model",
]


def make_numpy_pose_model(fn: PairFunction, *, name: str) -> NumpyPoseModel:
    """A pose model from `fn(rgb_a, rgb_b)`: the pose of the second camera in the first, in metres.

    It returns a mapping or a tuple of rotation and translation, or None where it finds no pose. A
    rotation is 3x3, or a quaternion named `rotation_xyzw` or `rotation_wxyz`: a bare one is an
    error, since nothing says its order. (The published code read it as wxyz, its files as xyzw.)
    """
    return NumpyPoseModel(fn, name, NumpyPoseOptions())


def make_numpy_keypoint_model(fn: PairFunction, *, name: str) -> NumpyKeypointModel:
    """A matcher from `fn(rgb_a, rgb_b)`, which returns points0, points1 and, if any, scores.

    Points are pixels (n, 2), x and y, of the first and of the second image.
    """
    return NumpyKeypointModel(fn, name)


def make_numpy_trajectory_model(fn: TrajectoryFunction, *, name: str) -> NumpyTrajectoryModel:
    """A tracker from `fn(timestamps)`, which returns a pose (4, 4) for each, in metres.

    Timestamps are (n,), in seconds. Where it has no pose for some, it returns a tuple of poses
    (m, 4, 4) and their own timestamps (m,).
    """
    return NumpyTrajectoryModel(fn, name)
