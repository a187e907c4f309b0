"""Samples and models for tests of the published names: tiny, in memory, without files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import rpx_core as rpx

TASKS = tuple(rpx.TaskType)
RUNS: dict[str, tuple[type[rpx.TaskRunConfig], Any]] = {
    rpx.TaskType.MONOCULAR_DEPTH: (rpx.MonocularDepthRunConfig, rpx.run_monocular_depth),
    rpx.TaskType.OBJECT_SEGMENTATION: (rpx.SegmentationRunConfig, rpx.run_segmentation),
    rpx.TaskType.OBJECT_DETECTION: (rpx.ObjectDetectionRunConfig, rpx.run_object_detection),
    rpx.TaskType.OPEN_VOCAB_DETECTION: (
        rpx.OpenVocabDetectionRunConfig,
        rpx.run_open_vocab_detection,
    ),
    rpx.TaskType.VISUAL_GROUNDING: (rpx.VisualGroundingRunConfig, rpx.run_visual_grounding),
    rpx.TaskType.RELATIVE_CAMERA_POSE: (rpx.RelativePoseRunConfig, rpx.run_relative_pose),
    rpx.TaskType.KEYPOINT_MATCHING: (rpx.KeypointMatchingRunConfig, rpx.run_keypoint_matching),
    rpx.TaskType.SPARSE_DEPTH: (rpx.SparseDepthRunConfig, rpx.run_sparse_depth),
    rpx.TaskType.NOVEL_VIEW_SYNTHESIS: (
        rpx.NovelViewSynthesisRunConfig,
        rpx.run_novel_view_synthesis,
    ),
    rpx.TaskType.OBJECT_TRACKING: (rpx.ObjectTrackingRunConfig, rpx.run_object_tracking),
    "semantic_segmentation": (rpx.SemanticSegmentationRunConfig, rpx.run_semantic_segmentation),
    "trajectory": (rpx.TrajectoryRunConfig, rpx.run_trajectory),
}
"""The configuration class and the function of every task."""

RGB = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
BOX = np.array([[1.0, 1.0, 3.0, 3.0]])


class Model(rpx.BenchmarkModel):
    """Answers with what a function says of each sample, and remembers what it was asked."""

    def __init__(self, task: rpx.TaskType, answer: Any) -> None:
        self.task = task
        self.answer = answer
        self.setups = 0
        self.batches: list[list[str]] = []

    def setup(self) -> None:
        self.setups += 1

    def predict(self, batch: Sequence[rpx.Sample]) -> list[Any]:
        self.batches.append([sample.id for sample in batch])
        return [self.answer(sample) for sample in batch]


def cheat(task: rpx.TaskType) -> Model:
    """A model that looks at the ground truth."""
    return Model(task, lambda sample: sample.ground_truth)


class Peek:
    """An adapter for both ends that looks at the ground truth at one of them."""

    def __init__(self, *, early: bool) -> None:
        self.early = early

    def setup(self) -> None:
        """Nothing to load."""

    def prepare(self, sample: rpx.Sample) -> rpx.PreparedInput:
        return rpx.PreparedInput([sample.ground_truth] if self.early else [])

    def finalize(self, model_output: Any, context: Any, sample: rpx.Sample) -> Any:
        return sample.ground_truth


def cheat_early(task: rpx.TaskType) -> rpx.BenchmarkableModel:
    """A model whose input adapter looks at the ground truth."""
    return rpx.BenchmarkableModel(task, Peek(early=True), len, Peek(early=True))


def cheat_late(task: rpx.TaskType) -> rpx.BenchmarkableModel:
    """A model whose output adapter looks at the ground truth."""
    return rpx.BenchmarkableModel(task, Peek(early=False), len, Peek(early=False))


CHEATS = (cheat, cheat_early, cheat_late)


def depth_samples(scenes: Sequence[str] = ("desk",), frames: int = 2) -> list[rpx.Sample]:
    """Flat walls at 1 m, 2 m, ...: each scene in every phase and difficulty, as published."""
    return [
        rpx.Sample(
            id=f"{scene}-{tier}_{phase}_{frame:05d}",
            rgb=RGB,
            ground_truth=rpx.DepthGroundTruth(np.full((4, 6), 1.0 + frame, np.float32)),
            phase=phase,
            difficulty=tier,
        )
        for scene in scenes
        for tier in rpx.Difficulty
        for phase in rpx.Phase
        for frame in range(frames)
    ]


def one_sample(task: rpx.TaskType) -> rpx.Sample:
    """A sample of a task as programs make them: no query, a second image in the metadata."""
    return rpx.Sample(
        id="desk_clutter_00001",
        rgb=RGB,
        ground_truth=TRUTHS[task],
        phase=rpx.Phase.CLUTTER,
        metadata={"rgb_b": RGB[::-1].copy(), "vocabulary": ["cup"]},
        camera_pose=np.eye(4),
    )


def numpy_models() -> Iterator[tuple[rpx.TaskType, Any]]:
    """A `make_numpy_*` model of each task that answers with the truth of `one_sample`."""
    T = rpx.TaskType
    boxes = (BOX, np.ones(1), ["cup"])
    yield T.MONOCULAR_DEPTH, rpx.make_numpy_depth_model(lambda rgb: DEPTH, name="m")
    yield T.OBJECT_SEGMENTATION, rpx.make_numpy_mask_model(lambda rgb: MASK, name="m")
    yield T.OBJECT_DETECTION, rpx.make_numpy_detection_model(lambda rgb: boxes, name="m")
    yield (
        T.OPEN_VOCAB_DETECTION,
        rpx.make_numpy_detection_model(
            lambda rgb, vocabulary: (BOX, np.ones(1), vocabulary),
            name="m",
            task=T.OPEN_VOCAB_DETECTION,
        ),
    )
    yield (
        T.VISUAL_GROUNDING,
        rpx.make_numpy_grounding_model(
            lambda rgb, text: (BOX if text == "the cup" else BOX[:0], np.ones(1)), name="m"
        ),
    )
    pose = {"rotation": np.eye(3), "translation": np.array([0.1, 0.0, 0.0])}
    yield T.RELATIVE_CAMERA_POSE, rpx.make_numpy_pose_model(lambda a, b: pose, name="m")
    yield (
        T.KEYPOINT_MATCHING,
        rpx.make_numpy_keypoint_model(lambda a, b: (POINTS, POINTS), name="m"),
    )
    yield (
        T.SPARSE_DEPTH,
        rpx.make_numpy_sparse_depth_model(lambda rgb, xy: np.full(len(xy), 2.0), name="m"),
    )
    yield T.NOVEL_VIEW_SYNTHESIS, rpx.make_numpy_nvs_model(lambda rgb, pose: rgb, name="m")
    track = {"track_id": 7, "box": BOX[0], "score": 0.9}
    yield T.OBJECT_TRACKING, rpx.make_numpy_tracking_model(lambda rgb: [track], name="m")


DEPTH = np.full((4, 6), 2.0, np.float32)
MASK = np.array([[0, 0, 1, 1, 2, 2]] * 4)
POINTS = np.array([[1.0, 1.0], [4.0, 2.0]])
TRUTHS: dict[rpx.TaskType, Any] = {
    rpx.TaskType.MONOCULAR_DEPTH: rpx.DepthGroundTruth(DEPTH),
    rpx.TaskType.OBJECT_SEGMENTATION: rpx.SegmentationGroundTruth(MASK),
    rpx.TaskType.OBJECT_DETECTION: rpx.DetectionGroundTruth(BOX, ["cup"]),
    rpx.TaskType.OPEN_VOCAB_DETECTION: rpx.DetectionGroundTruth(BOX, ["cup"]),
    rpx.TaskType.VISUAL_GROUNDING: rpx.VisualGroundingGroundTruth("the cup", BOX),
    rpx.TaskType.RELATIVE_CAMERA_POSE: rpx.RelativePoseGroundTruth(
        np.eye(3), np.array([0.1, 0.0, 0.0])
    ),
    rpx.TaskType.KEYPOINT_MATCHING: rpx.KeypointCorrespondenceGroundTruth(POINTS, POINTS),
    rpx.TaskType.SPARSE_DEPTH: rpx.SparseDepthGroundTruth(POINTS, np.full(2, 2.0)),
    rpx.TaskType.NOVEL_VIEW_SYNTHESIS: rpx.NovelViewSynthesisGroundTruth(RGB, np.eye(4)),
    rpx.TaskType.OBJECT_TRACKING: rpx.TrackletGroundTruth([rpx.Tracklet("a", BOX)]),
}
PERFECT: dict[rpx.TaskType, tuple[str, float | None]] = {
    rpx.TaskType.MONOCULAR_DEPTH: ("absrel", 0.0),
    rpx.TaskType.OBJECT_SEGMENTATION: ("miou", 1.0),
    rpx.TaskType.OBJECT_DETECTION: ("ap", 1.0),
    rpx.TaskType.OPEN_VOCAB_DETECTION: ("ap", 1.0),
    rpx.TaskType.VISUAL_GROUNDING: ("grounding_acc", 1.0),
    rpx.TaskType.RELATIVE_CAMERA_POSE: ("rotation_error_deg", 0.0),
    rpx.TaskType.KEYPOINT_MATCHING: ("pck_3px", 1.0),
    rpx.TaskType.SPARSE_DEPTH: ("absrel", 0.0),
    rpx.TaskType.NOVEL_VIEW_SYNTHESIS: ("psnr", None),
    rpx.TaskType.OBJECT_TRACKING: ("hota", 1.0),
}
"""The headline of a perfect answer; that of an image is infinite, which is None."""
