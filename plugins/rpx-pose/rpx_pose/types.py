"""What the pose tasks pass around: ground truths, predictions, queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rpx_core.errors import ModelError
from rpx_pose.rotations import QuaternionOrder, has_length, rotations_from_quaternions

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RelativePoseGroundTruth:
    """The pose of the second camera in the axes of the first: x_a = rotation·x_b + translation.

    inv(A)·B of the two camera-to-world poses. `rotation` is 3x3, `translation` (3,) in metres, axes
    as in OpenCV: x right, y down, z forward. A quaternion comes in through `from_xyzw` or
    `from_wxyz`, which name its order.
    """

    rotation: Floats
    translation: Floats

    @classmethod
    def from_xyzw(cls, quaternion: ArrayLike, translation: ArrayLike) -> Self:
        """From a quaternion with its real part last (ROS, scipy, the pose files of RPX)."""
        rotation = rotation_from(quaternion, order="xyzw")
        return cls(rotation, np.asarray(translation, np.float64))

    @classmethod
    def from_wxyz(cls, quaternion: ArrayLike, translation: ArrayLike) -> Self:
        """From a quaternion with its real part first (Eigen's constructor, COLMAP, EuRoC files)."""
        rotation = rotation_from(quaternion, order="wxyz")
        return cls(rotation, np.asarray(translation, np.float64))


@dataclass(frozen=True, eq=False)
class RelativePosePrediction:
    """The same from a model; both are None where it finds no pose.

    `scale_known = False` says that the length of the translation means nothing, as from one
    camera alone. A quaternion comes in through `from_xyzw` or `from_wxyz`, which name its order.
    """

    rotation: Floats | None
    translation: Floats | None
    scale_known: bool = field(default=True, kw_only=True)

    @classmethod
    def no_pose(cls) -> Self:
        """No pose was found: counts as a failure, never as a missing sample."""
        return cls(None, None)

    @classmethod
    def from_xyzw(
        cls, quaternion: ArrayLike, translation: ArrayLike, *, scale_known: bool = True
    ) -> Self:
        """From a quaternion with its real part last (ROS, scipy, TUM files)."""
        rotation = rotation_from(quaternion, order="xyzw")
        return cls(rotation, np.asarray(translation, np.float64), scale_known=scale_known)

    @classmethod
    def from_wxyz(
        cls, quaternion: ArrayLike, translation: ArrayLike, *, scale_known: bool = True
    ) -> Self:
        """From a quaternion with its real part first (Eigen's constructor, COLMAP, EuRoC files)."""
        rotation = rotation_from(quaternion, order="wxyz")
        return cls(rotation, np.asarray(translation, np.float64), scale_known=scale_known)


@dataclass(frozen=True, eq=False)
class PairQuery:
    """The second image of a pair, uint8 (H', W', 3), and its 3x3 intrinsics where known."""

    rgb_b: NDArray[np.uint8]
    intrinsics_b: Floats | None = None


@dataclass(frozen=True, eq=False)
class KeypointQuery(PairQuery):
    """The same, and the pixels (n, 2) of the first image whose matches will be asked for."""

    points0: Floats = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class KeypointCorrespondenceGroundTruth:
    """Pixels (n, 2), x and y, of the first image and the same points in the second.

    `visibility` (n,) says which are seen in the second image; None means all. `relative_pose` and
    `homography` (3x3, first image to second, in pixels) are there where they are known.
    """

    points0: Floats
    points1: Floats
    visibility: NDArray[np.bool_] | None = None
    relative_pose: RelativePoseGroundTruth | None = field(default=None, kw_only=True)
    homography: Floats | None = field(default=None, kw_only=True)

    def visible(self) -> NDArray[np.bool_]:
        """Which points are seen in both images."""
        return np.ones(len(self.points0), bool) if self.visibility is None else self.visibility


@dataclass(frozen=True, eq=False)
class KeypointCorrespondencePrediction:
    """Matches: pixels (n, 2) of the first image, of the second, and a score for each, if any."""

    points0: Floats
    points1: Floats
    scores: Floats | None = None


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Poses (n, 4, 4) of a body in a world frame, in metres, at `timestamps` (n,) in seconds.

    Timestamps never decrease. Without them, pose k belongs to pose k of the truth.
    """

    poses: Floats
    timestamps: Floats | None = None

    def __len__(self) -> int:
        return len(self.poses)


@dataclass(frozen=True, eq=False)
class TrajectoryPrediction:
    """An estimated trajectory, and which of its poses belong to which of the truth.

    `truth_indices` and `indices` (m,) list the associated pairs in order of time, `covered` (n,)
    says which poses of the truth have an associated one nearby; the task fills them in.
    """

    trajectory: Trajectory
    truth_indices: NDArray[np.intp] | None = None
    indices: NDArray[np.intp] | None = None
    covered: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class TrajectoryQuery:
    """When a trajectory is asked for: timestamps (n,) in seconds, and a listed estimate if any."""

    timestamps: Floats
    estimate: Trajectory | None = None


def rotation_from(quaternion: ArrayLike, *, order: QuaternionOrder) -> Floats:
    """The 3x3 rotation of one quaternion; all NaN where it is not finite, which is no pose.

    Raises ModelError for a zero quaternion and for anything but four numbers.
    """
    q = np.asarray(quaternion, np.float64)
    if q.shape != (4,):
        raise ModelError(f"a quaternion has 4 numbers ({', '.join(order)}), not shape {q.shape}")
    if not np.isfinite(q).all():
        return np.full((3, 3), np.nan)
    if not has_length(q):
        raise ModelError(
            f"the quaternion {q.tolist()} is zero, which is no rotation",
            hint="return None where the model finds no pose",
        )
    return rotations_from_quaternions(q, order=order)
