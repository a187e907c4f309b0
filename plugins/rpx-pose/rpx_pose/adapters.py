"""From Python functions to pose estimators, matchers and trackers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from rpx_core.adapters import FunctionModel, function_name
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError, ModelError, kind_of
from rpx_pose.answers import as_numbers, check_answer, from_matrix, read_answer
from rpx_pose.matches import check_matches, read_matches
from rpx_pose.models.images import pair_images
from rpx_pose.models.trajectories import trajectory_query
from rpx_pose.types import (
    KeypointCorrespondencePrediction,
    RelativePosePrediction,
    Trajectory,
)

TrajectoryFunction = Callable[[NDArray[np.float64]], Any]
"""Takes the timestamps (n,) in seconds at which poses are asked for."""
PairFunction = Callable[[NDArray[np.uint8], NDArray[np.uint8]], Any]
"""Takes two images, uint8 RGB (H, W, 3)."""


class NumpyPoseOptions(BaseModel):
    """What the function's pose means.

    `maps`: `b_to_a` is the pose of the second camera in the first, x_a = R·x_b + t; `a_to_b` is
    its inverse, as OpenCV's `recoverPose` returns it. `scale`: whether the translation is metres.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    maps: Literal["b_to_a", "a_to_b"] = "b_to_a"
    scale: Literal["metres", "unknown"] = "metres"


class NumpyPoseModel(FunctionModel[RelativePosePrediction]):
    """Calls a function on both images of a pair and names what it returns.

    A mapping with `rotation` (3x3), `rotation_xyzw` or `rotation_wxyz`, and `translation`; a tuple
    of a 3x3 rotation and a translation; a 4x4 pose; or None where it finds no pose.
    """

    task = "relative_camera_pose"

    def __init__(self, function: PairFunction, name: str, options: NumpyPoseOptions) -> None:
        super().__init__(function, name)
        self._options = options

    def answer(self, sample: Sample) -> RelativePosePrediction:
        """One pose; raises AdapterError when the function returns something else."""
        # Copies: what the function scribbles on its input must not reach the report.
        answer = self._function(*(image.copy() for image in pair_images(sample)))
        try:
            pose = check_answer(_name_parts(answer))
        except ModelError as error:
            raise _refusal(error, sample, self.name) from error
        rotation, translation = pose.rotation, pose.translation
        if rotation is None or translation is None:
            return pose
        if self._options.maps == "a_to_b":
            rotation, translation = rotation.T, -rotation.T @ translation
        known = pose.scale_known and self._options.scale == "metres"
        return RelativePosePrediction(rotation, translation, scale_known=known)


class NumpyKeypointModel(FunctionModel[KeypointCorrespondencePrediction]):
    """Calls a function on both images of a pair; it returns (points0, points1) or with scores.

    Points are pixels (n, 2), x and y; a mapping with these names, and None, are understood too.
    """

    task = "keypoint_matching"

    def answer(self, sample: Sample) -> KeypointCorrespondencePrediction:
        """The pair's matches; raises AdapterError when the function returns something else."""
        answer = self._function(*(image.copy() for image in pair_images(sample)))
        try:
            return check_matches(read_matches(answer))
        except ModelError as error:
            raise _refusal(error, sample, self.name) from error


class NumpyTrajectoryModel(FunctionModel[Trajectory]):
    """Calls a function on the timestamps asked for; it returns the body's path.

    Poses (m, 4, 4), which stand at those timestamps if they are as many; a tuple of poses and their
    own timestamps (m,) in seconds; a mapping with `poses` and `timestamps`; or a `Trajectory`.
    """

    task = "trajectory"

    def answer(self, sample: Sample) -> Trajectory:
        """One path; raises AdapterError when the function returns something else."""
        stamps = trajectory_query(sample).timestamps
        try:
            return _read_path(self._function(stamps.copy()), stamps)
        except ModelError as error:
            raise _refusal(error, sample, self.name) from error


def wrap_pose(
    function: PairFunction, options: NumpyPoseOptions, runtime: Runtime
) -> NumpyPoseModel:
    """The function as a pose model, for the engine."""
    return NumpyPoseModel(function, function_name(function), options)


def wrap_keypoints(function: PairFunction, options: None, runtime: Runtime) -> NumpyKeypointModel:
    """The function as a matcher, for the engine."""
    return NumpyKeypointModel(function, function_name(function))


def wrap_trajectory(
    function: TrajectoryFunction, options: None, runtime: Runtime
) -> NumpyTrajectoryModel:
    """The function as a tracker, for the engine."""
    return NumpyTrajectoryModel(function, function_name(function))


def _refusal(error: ModelError, sample: Sample, name: str) -> AdapterError:
    """What is wrong with what a function returned, told of the function."""
    return AdapterError(
        f"sample {sample.id}: what {name} returned: {error.message}", hint=error.hint
    )


def _read_path(answer: Any, asked: NDArray[np.float64]) -> Trajectory:
    """A path with timestamps; the task checks what is in it."""
    if isinstance(answer, Trajectory):
        return answer
    if isinstance(answer, Mapping) and set(answer) == {"poses", "timestamps"}:
        answer = (answer["poses"], answer["timestamps"])
    if isinstance(answer, tuple) and len(answer) == 2:
        return Trajectory(as_numbers(answer[0], "poses"), as_numbers(answer[1], "timestamps"))
    if isinstance(answer, np.ndarray | list):
        poses = as_numbers(answer, "poses")
        if len(poses) != len(asked):
            raise ModelError(
                f"{len(poses)} poses, but {len(asked)} were asked for",
                hint="return (poses, timestamps) where poses are missing",
            )
        return Trajectory(poses, asked)
    raise ModelError(
        f"{kind_of(answer)}; poses (n, 4, 4), (poses, timestamps) or a Trajectory was expected"
    )


def _name_parts(answer: Any) -> RelativePosePrediction:
    if answer is None:
        return RelativePosePrediction.no_pose()
    if isinstance(answer, RelativePosePrediction):
        return answer
    if isinstance(answer, Mapping):
        return read_answer(answer)
    if isinstance(answer, tuple) and len(answer) == 2:
        return RelativePosePrediction(*answer)
    if isinstance(answer, np.ndarray):
        return from_matrix(answer)
    raise ModelError(
        f"{kind_of(answer)}; a mapping, (rotation, translation), a 4x4 array or None was expected"
    )
