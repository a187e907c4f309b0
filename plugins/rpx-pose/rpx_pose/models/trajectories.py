"""Trajectories that need no sensor: standing still, and an estimate that the data lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_pose.types import Trajectory, TrajectoryQuery


class StaticTrajectory:
    """Stands still at the origin at every time asked for: what any tracker must beat."""

    task = "trajectory"

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[Trajectory]:
        """Identity poses, one for each timestamp."""
        return [self._stand(sample) for sample in batch]

    def _stand(self, sample: Sample) -> Trajectory:
        stamps = trajectory_query(sample).timestamps
        return Trajectory(np.tile(np.eye(4), (len(stamps), 1, 1)), stamps)


class ListedEstimate:
    """Answers the trajectory that the record lists as `estimate`: another program's result."""

    task = "trajectory"

    def setup(self) -> None:
        """Nothing to load: the task reads the files."""

    def predict(self, batch: Sequence[Sample]) -> list[Trajectory]:
        """The listed estimate of each sample; raises ModelError where there is none."""
        return [self._look_up(sample) for sample in batch]

    def _look_up(self, sample: Sample) -> Trajectory:
        estimate = trajectory_query(sample).estimate
        if estimate is None:
            raise ModelError(
                f"sample {sample.id}: its record lists no `estimate`",
                hint="list the file of an estimated trajectory as `estimate` in the manifest",
            )
        return estimate


def load_static(options: None, runtime: Runtime) -> StaticTrajectory:
    """The model, for any device."""
    return StaticTrajectory()


def load_listed(options: None, runtime: Runtime) -> ListedEstimate:
    """The model, for any device."""
    return ListedEstimate()


def trajectory_query(sample: Sample) -> TrajectoryQuery:
    """The timestamps that a sample asks for, and its listed estimate."""
    if not isinstance(sample.query, TrajectoryQuery):
        raise ModelError(f"sample {sample.id}: a trajectory's timestamps were expected as query")
    return sample.query
