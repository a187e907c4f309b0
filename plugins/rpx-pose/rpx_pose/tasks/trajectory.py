"""The task `trajectory`: the path of a camera or robot, against a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.adapters import array_hint
from rpx_core.arrays import encode_npz
from rpx_core.contracts import Aligned, Frame, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError, kind_of
from rpx_core.files import Files
from rpx_core.frames import load_pose, load_sample
from rpx_core.records import Record
from rpx_pose.association import Association, associate, suspect_unit
from rpx_pose.previews.paths import draw_paths
from rpx_pose.trajectory_errors import align_estimate
from rpx_pose.trajectory_files import (
    check_trajectory,
    read_timestamps,
    read_trajectory,
    show_time,
)
from rpx_pose.types import Trajectory, TrajectoryPrediction, TrajectoryQuery

_MOSTLY = 0.9
"""Coverage below which the report warns."""


class TrajectoryOptions(BaseModel):
    """How poses of an estimate are associated with the truth's.

    Two poses belong together that are at most `max_difference_s` apart in time. Fewer associated
    poses than the share `min_associated` of the shorter trajectory are a failed sample.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_difference_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    min_associated: Annotated[float, Field(ge=0, le=1)] = 0.5


class TrajectoryTask(Task[Trajectory, TrajectoryPrediction]):
    """Poses of a body over time, as a whole: one sample is one trajectory, without an image.

    A record lists a `trajectory` file (TUM, KITTI with `timestamps` or without, EuRoC, `.npz`);
    the frames of a sequence that carry a `pose` make one together, timed by their numbers. Axes
    of the body are those of the files: nothing is converted, so both sides must use the same.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".npz"
    suffixes: ClassVar[tuple[str, ...]] = (".txt", ".tum", ".kitti", ".csv")

    def __init__(self, options: TrajectoryOptions) -> None:
        self._options = options

    def arrange(self, records: Sequence[Record], files: Files) -> Sequence[Record]:
        """Listed trajectories, then the one that the other frames make, named as the sequence."""
        listed = [record for record in records if _is_listed(record)]
        others = [record for record in records if not _is_listed(record)]
        # Some frames may lack a pose; a sequence without any is a sample that fails to load.
        frames = [record for record in others if record.has("pose")]
        if not listed:
            frames = frames or others
        return [*listed, *([_join(frames)] if frames else [])]

    def load(self, record: Record, files: Files) -> Sample:
        """The true trajectory; the model gets its timestamps, and the estimate listed, if any."""
        truth = _load_truth(record, files)
        estimate = _load_file(record, "estimate", files) if record.has("estimate") else None
        return load_sample(record, files, ground_truth=truth, query=_ask(truth, estimate))

    def complete(self, sample: Sample) -> Sample:
        """The query is the timestamps of the ground truth.

        Raises ManifestError for a truth that is no Trajectory of rigid motions in order of time.
        """
        truth = sample.ground_truth
        if truth is None:
            return sample
        name = f"sample {sample.id}: the ground truth"
        if not isinstance(truth, Trajectory):
            raise ManifestError(f"{name} is {kind_of(truth)}; a Trajectory was expected")
        check_trajectory(truth, name=name, error=ManifestError)
        return replace(sample, query=sample.query or _ask(truth))

    def validate(self, prediction: Any, sample: Sample) -> TrajectoryPrediction:
        """The trajectory with its poses associated; accepts a Trajectory or poses (n, 4, 4).

        Raises ModelError where poses are no rigid motions, time runs backwards, or too few poses
        find one of the truth: mostly another unit or clock.
        """
        trajectory = _as_trajectory(prediction, sample)
        name = f"sample {sample.id}: the prediction"
        check_trajectory(trajectory, name=name, error=ModelError)
        found = self._associate(sample.ground_truth, trajectory, sample)
        return TrajectoryPrediction(trajectory, found.truth_indices, found.indices, found.covered)

    def align(
        self, method: str, frames: Sequence[Frame]
    ) -> Sequence[Aligned[TrajectoryPrediction] | None]:
        """The estimates as they are, for every metric aligns by itself and has that in its name.

        A note where the estimate leaves much of the truth out, or no alignment would be unique:
        along a line, the rotation about it is free.
        """
        return [
            Aligned(frame.prediction, note=_doubt(frame.truth, frame.prediction))
            for frame in frames
        ]

    def perfect_prediction(self, sample: Sample) -> TrajectoryPrediction:
        """The true trajectory, pose by pose."""
        truth: Trajectory = sample.ground_truth
        return TrajectoryPrediction(truth)

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """Both paths, seen along their narrowest direction, after the best rigid motion.

        The estimate is not drawn where it has no pose near the truth's.
        """
        return draw_paths(frame.truth, frame.prediction)

    def write_prediction(self, prediction: TrajectoryPrediction) -> bytes:
        """A `.npz` with poses (n, 4, 4) and, where known, timestamps (n,) in seconds."""
        trajectory = prediction.trajectory
        arrays = {"poses": trajectory.poses}
        if trajectory.timestamps is not None:
            arrays["timestamps"] = trajectory.timestamps
        return encode_npz(arrays)

    def read_prediction(self, data: bytes, name: str) -> Trajectory:
        """A trajectory from such a file, or in TUM, KITTI or EuRoC format."""
        return read_trajectory(data, name=name)

    def _associate(self, truth: Trajectory, estimate: Trajectory, sample: Sample) -> Association:
        if estimate.timestamps is None or truth.timestamps is None:
            return _by_index(truth, estimate, sample)
        found = associate(
            truth.timestamps, estimate.timestamps, max_difference=self._options.max_difference_s
        )
        if found.share < self._options.min_associated or not len(found.indices):
            raise _unassociated(truth.timestamps, estimate.timestamps, found, sample)
        return found


def _ask(truth: Trajectory, estimate: Trajectory | None = None) -> TrajectoryQuery:
    """What a model is told of a true trajectory: when, by its clock or else by its count."""
    stamps = np.arange(len(truth), dtype=np.float64)
    return TrajectoryQuery(
        stamps if truth.timestamps is None else truth.timestamps.copy(), estimate
    )


def _is_listed(record: Record) -> bool:
    return record.has("trajectory") or record.has("poses")


def _join(frames: Sequence[Record]) -> Record:
    first = frames[0]
    checksums: dict[str, str] = {}
    for frame in frames:
        checksums |= frame.checksums
    return first.model_copy(
        update={
            "id": first.sequence,
            "rgb": None,
            "pose": None,
            "checksums": checksums,
            "assets": {
                "poses": [frame.pose for frame in frames if frame.has("pose")],
                "timestamps": [frame.frame for frame in frames],
            },
        }
    )


def _load_truth(record: Record, files: Files) -> Trajectory:
    if record.has("trajectory"):
        truth = _load_file(record, "trajectory", files)
    else:
        poses = record.assets.get("poses")
        if not isinstance(poses, list) or not poses:
            raise ManifestError(
                f"sample {record.id}: it has no trajectory: the key `trajectory` (a file) or "
                "`poses` (a list) was expected, or frames with `pose`",
                hint='for a file: {"id": "...", "trajectory": "groundtruth.txt"}',
            )
        truth = Trajectory(
            np.stack(
                [
                    load_pose(pose, record, files, key=f"pose {number} of its {len(poses)}")
                    for number, pose in enumerate(poses)
                ]
            )
        )
    if record.has("timestamps"):
        truth = Trajectory(truth.poses, _load_timestamps(record, files))
    return check_trajectory(truth, name=f"sample {record.id}")


def _load_file(record: Record, key: str, files: Files) -> Trajectory:
    name = record.path_of(key)
    return read_trajectory(files.read(name), name=name)


def _load_timestamps(record: Record, files: Files) -> np.ndarray[Any, np.dtype[np.float64]]:
    value = record.assets["timestamps"]
    if isinstance(value, str):
        return read_timestamps(files.read(value), name=value)
    try:
        return np.asarray(value, np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ManifestError(
            f"sample {record.id}: `timestamps` must be the path of a file, or numbers in seconds"
        ) from error


def _as_trajectory(prediction: Any, sample: Sample) -> Trajectory:
    if isinstance(prediction, TrajectoryPrediction):
        prediction = prediction.trajectory
    if isinstance(prediction, Trajectory):
        stamps = prediction.timestamps
        return Trajectory(
            np.array(prediction.poses, np.float64),
            None if stamps is None else np.array(stamps, np.float64),
        )
    if isinstance(prediction, np.ndarray):
        return Trajectory(np.array(prediction, np.float64))
    raise ModelError(
        f"sample {sample.id}: the prediction is {kind_of(prediction)}; a Trajectory or "
        "poses (n, 4, 4) were expected",
        hint=array_hint(prediction),
    )


def _doubt(truth: Trajectory, prediction: TrajectoryPrediction) -> str | None:
    if prediction.covered is not None and prediction.covered.mean() < _MOSTLY:
        return (
            "no estimate near more than a tenth of the true poses: errors are of the others alone, "
            "read `coverage`"
        )
    true = truth.poses[prediction.truth_indices]
    estimate = prediction.trajectory.poses[prediction.indices]
    fitted = align_estimate(true, estimate, "se3")
    if fitted is None or not fitted.is_ambiguous:
        return None
    return "the truth or the estimate stays on one line: the rotation of an alignment is not unique"


def _by_index(truth: Trajectory, estimate: Trajectory, sample: Sample) -> Association:
    if len(truth) != len(estimate):
        raise ModelError(
            f"sample {sample.id}: {len(estimate)} poses without timestamps for {len(truth)} true "
            "ones; equally many were expected",
            hint="give timestamps (TUM format, or `timestamps` in the manifest for KITTI truth)",
        )
    every = np.arange(len(truth))
    return Association(every, every, 1.0, np.ones(len(truth), bool))


def _unassociated(truth: Any, estimate: Any, found: Association, sample: Sample) -> ModelError:
    shorter = min(len(truth), len(estimate))
    unit = suspect_unit(truth, estimate)
    return ModelError(
        f"sample {sample.id}: {len(found.indices)} of {shorter} poses are associated; the truth "
        f"runs from {show_time(truth[0])} to {show_time(truth[-1])} s, the estimate from "
        f"{show_time(estimate[0])} to {show_time(estimate[-1])}",
        hint=f"its timestamps look like {unit}: divide them to get seconds"
        if unit
        else "both need one clock, in seconds; --set options.max_difference_s=0.05 allows more",
    )
