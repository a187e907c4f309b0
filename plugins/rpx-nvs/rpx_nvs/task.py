"""The task `novel_view_synthesis`: what a camera would see from somewhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from rpx_core.arrays import encode_npy, is_array_file, load_array
from rpx_core.contracts import Frame, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError
from rpx_core.files import Files
from rpx_core.frames import expected_size, load_sample
from rpx_core.image_formats import read_image_header
from rpx_core.images import decode_rgb
from rpx_core.records import Record
from rpx_nvs.answers import check_colours
from rpx_nvs.colours import resize_colours
from rpx_nvs.loading import load_sources, load_target, load_target_pose
from rpx_nvs.options import NovelViewSynthesisOptions
from rpx_nvs.pairing import is_sample, pair_frames
from rpx_nvs.preview import draw_preview
from rpx_nvs.types import (
    NovelViewSynthesisGroundTruth,
    NovelViewSynthesisPrediction,
    NovelViewSynthesisQuery,
    SourceView,
)


class NovelViewSynthesis(Task[NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction]):
    """The image of a target camera, from source views and poses.

    Records with `target_rgb` are samples as they stand; the frames of a sequence are made into
    samples by `arrange`.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".npy"
    suffixes: ClassVar[tuple[str, ...]] = (".npz", ".png", ".jpg", ".jpeg")

    def __init__(self, options: NovelViewSynthesisOptions) -> None:
        self._options = options

    def arrange(self, records: Sequence[Record], files: Files) -> Sequence[Record]:
        """Listed samples, then those that the other frames make, in the order of their frames."""
        listed = [record for record in records if is_sample(record)]
        frames = [record for record in records if not is_sample(record)]
        options = self._options
        return [*listed, *pair_frames(frames, gap=options.gap, sources=options.sources)]

    def load(self, record: Record, files: Files) -> Sample:
        """Source views, target camera and target image; poses in OpenCV axes, camera to world."""
        options = self._options
        sample = load_sample(record, files, ground_truth=None, background=options.background)
        sources = load_sources(record, sample, files, options)
        pose = load_target_pose(record, files)
        truth = load_target(record, files, sources, pose, options)
        query = NovelViewSynthesisQuery(
            target_pose=pose,
            relative_pose=np.linalg.inv(sources[0].pose) @ pose,
            target_size=(truth.rgb.shape[0], truth.rgb.shape[1]),
            sources=tuple(self._given(source) for source in sources),
            target_intrinsics=truth.intrinsics,
        )
        return replace(sample, ground_truth=truth, query=query)

    def complete(self, sample: Sample) -> Sample:
        """The query is the camera of the ground truth, seen from the sample's own image and pose.

        A sample without `camera_pose` is the world itself.
        """
        truth: NovelViewSynthesisGroundTruth | None = sample.ground_truth
        if truth is None or truth.camera_pose is None:
            return sample
        if sample.query is not None or sample.rgb is None:
            return sample
        own = np.eye(4) if sample.camera_pose is None else sample.camera_pose
        query = NovelViewSynthesisQuery(
            target_pose=truth.camera_pose,
            relative_pose=np.linalg.inv(own) @ truth.camera_pose,
            target_size=(truth.rgb.shape[0], truth.rgb.shape[1]),
            sources=(SourceView(sample.rgb, own, sample.intrinsics),),
            target_intrinsics=truth.intrinsics,
        )
        return replace(sample, query=query)

    def validate(self, prediction: Any, sample: Sample) -> NovelViewSynthesisPrediction:
        """An image of the target's size that nobody else holds; accepts a bare array.

        uint8 stays uint8, floats must lie in [0, 1] and become float32, alpha is laid over the
        option `background`.
        """
        is_typed = isinstance(prediction, NovelViewSynthesisPrediction)
        rgb = prediction.rgb if is_typed else prediction
        try:
            own = check_colours(rgb, self._options.background)
        except ModelError as error:
            message = f"sample {sample.id}: the predicted view {error.message}"
            raise ModelError(message, hint=error.hint) from error
        height, width = expected_size(sample, "rgb")
        if own.shape[:2] != (height, width):
            if self._options.resize == "error":
                raise ModelError(
                    f"sample {sample.id}: the predicted view is {own.shape[0]}x{own.shape[1]}; "
                    f"the target is {height}x{width} (height x width)",
                    hint="resize in the model or adapter, or --set options.resize='\"bilinear\"'",
                )
            own = resize_colours(own, (height, width))
        return NovelViewSynthesisPrediction(own)

    def perfect_prediction(self, sample: Sample) -> NovelViewSynthesisPrediction:
        """The target image."""
        return NovelViewSynthesisPrediction(sample.ground_truth.rgb.copy())

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The source, the target, the synthesised view, and where it is off."""
        return draw_preview(frame.sample.rgb, frame.truth, frame.prediction)

    def write_prediction(self, prediction: NovelViewSynthesisPrediction) -> bytes:
        """A `.npy` of the image as it is: uint8, or float32 from 0 to 1."""
        return encode_npy(prediction.rgb)

    def read_prediction(self, data: bytes, name: str) -> NovelViewSynthesisPrediction:
        """An image from `.npy`, a single-array `.npz`, or PNG; never from a lossy format."""
        if is_array_file(data, name=name):
            return NovelViewSynthesisPrediction(load_array(data, name=name))
        header = read_image_header(data, name=name)
        if header.format != "PNG":
            raise ManifestError(
                f"{name}: found {header}; predictions are read from PNG or .npy",
                hint="lossy compression changes the score: save the view without loss",
            )
        rgb = decode_rgb(data, name=name, background=self._options.background)
        return NovelViewSynthesisPrediction(rgb)

    def _given(self, source: SourceView) -> SourceView:
        return source if self._options.source_depth else replace(source, depth=None)
