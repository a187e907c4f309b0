"""The task `relative_camera_pose`: the pose of a second camera in the axes of the first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.arrays import is_array_file, load_array
from rpx_core.contracts import Frame, Picture, Sample, Task
from rpx_core.documents import read_json
from rpx_core.errors import ManifestError, ModelError, kind_of
from rpx_core.files import Files
from rpx_core.records import Record
from rpx_pose.answers import check_answer, from_matrix, read_answer
from rpx_pose.previews.epipolar_lines import draw_epipolar_lines
from rpx_pose.sampling import SEED, Selection
from rpx_pose.tasks.pairing import (
    is_pair,
    join,
    load_pair,
    load_relative_pose,
    pair_frames,
    second_image,
    spread_by_rotation,
)
from rpx_pose.types import RelativePoseGroundTruth, RelativePosePrediction


class RelativeCameraPoseOptions(BaseModel):
    """Which pairs the frames of a sequence make, in data that does not list pairs itself.

    Their numbers are exactly `gap` apart. With `per_bin`, so many pairs are taken, by `seed`, of
    each bin of rotation angle: [0, 15), [15, 45), [45, 90) and [90, 180] degrees.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    gap: Annotated[int, Field(ge=1)] = 1
    per_bin: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = SEED


class RelativeCameraPose(Task[RelativePoseGroundTruth, RelativePosePrediction]):
    """Rotation and translation with x_a = R·x_b + t, from two images: inv(A)·B of their poses.

    Records that are pairs are taken as they are; the frames of a sequence are paired by `gap`,
    and with `per_bin` chosen by rotation.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".json"
    suffixes: ClassVar[tuple[str, ...]] = (".npy",)

    def __init__(self, options: RelativeCameraPoseOptions) -> None:
        self._options = options

    def arrange(self, records: Sequence[Record], files: Files) -> Sequence[Record]:
        """Listed pairs, then the pairs that the other frames make."""
        frames = [record for record in records if not is_pair(record)]
        listed = [record for record in records if is_pair(record)]
        pairs = pair_frames(frames, self._options.gap)
        if self._options.per_bin is None:
            return [*listed, *(join(*pair) for pair in pairs)]
        selection = Selection(self._options.per_bin, self._options.seed)
        return [*listed, *spread_by_rotation(pairs, files, selection)]

    def load(self, record: Record, files: Files) -> Sample:
        """Both images, their intrinsics, and the true relative pose in OpenCV axes."""
        truth = load_relative_pose(record, files)
        if truth is None:
            raise ManifestError(
                f"sample {record.id}: both cameras need a pose, `pose_a` and `pose_b`",
                hint="frames of a sequence carry theirs as `pose`",
            )
        return load_pair(record, files, ground_truth=truth)

    def complete(self, sample: Sample) -> Sample:
        """The query is the second image, `metadata["rgb_b"]`.

        Raises ManifestError for a true rotation that is no 3x3 matrix.
        """
        truth: RelativePoseGroundTruth | None = sample.ground_truth
        shape = (3, 3) if truth is None else np.shape(truth.rotation)
        if shape != (3, 3):
            raise ManifestError(
                f"sample {sample.id}: the true rotation has shape {shape}; (3, 3) was expected",
                hint="RelativePoseGroundTruth.from_xyzw and .from_wxyz take quaternions",
            )
        if sample.query is not None:
            return sample
        return replace(sample, query=second_image(sample))

    def validate(self, prediction: Any, sample: Sample) -> RelativePosePrediction:
        """The pose as float64 arrays that nobody else holds; accepts a 4x4 array, or None.

        None, and a pose that is not finite, is the answer that there is no pose: a failure that
        metrics count. A matrix that is no rotation breaks the contract.
        """
        try:
            return check_answer(_as_answer(prediction))
        except ModelError as error:
            raise ModelError(
                f"sample {sample.id}: the predicted pose: {error.message}", hint=error.hint
            ) from error

    def perfect_prediction(self, sample: Sample) -> RelativePosePrediction:
        """The true pose."""
        truth: RelativePoseGroundTruth = sample.ground_truth
        return RelativePosePrediction(truth.rotation.copy(), truth.translation.copy())

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """Both images; points of the first with their true and predicted epipolar lines."""
        return draw_epipolar_lines(frame.sample, frame.truth, frame.prediction)

    def write_prediction(self, prediction: RelativePosePrediction) -> bytes:
        """A JSON object with `rotation`, `translation` and `scale_known`, or `{"pose": null}`."""
        if prediction.rotation is None or prediction.translation is None:
            return b'{"pose": null}\n'
        answer = {
            "rotation": prediction.rotation.tolist(),
            "translation": prediction.translation.tolist(),
            "scale_known": prediction.scale_known,
        }
        return json.dumps(answer, allow_nan=False).encode() + b"\n"

    def read_prediction(self, data: bytes, name: str) -> RelativePosePrediction:
        """A pose from such a JSON object, also with `rotation_xyzw` or `rotation_wxyz`, or a 4x4
        `.npy`.
        """
        try:
            if is_array_file(data, name=name):
                return from_matrix(np.asarray(load_array(data, name=name), np.float64))
            answer = read_json(data, source=name)
            if not isinstance(answer, Mapping):
                raise ModelError("an object with `rotation` and `translation` was expected")
            return read_answer(answer, known=("scale_known",))
        except ModelError as error:
            raise ManifestError(f"{name}: {error.message}", hint=error.hint) from error


def _as_answer(prediction: Any) -> RelativePosePrediction:
    if prediction is None:
        return RelativePosePrediction.no_pose()
    if isinstance(prediction, RelativePosePrediction):
        return prediction
    if isinstance(prediction, np.ndarray):
        return from_matrix(prediction)
    raise ModelError(
        f"it is {kind_of(prediction)}; a RelativePosePrediction, a 4x4 array or None was expected"
    )
