"""The published way to run a task: a configuration class and a function per task."""

from __future__ import annotations

from pathlib import Path

from rpx_core.contracts import TaskType
from rpx_core.errors import ConfigError
from rpx_core.published.results import BenchmarkResult, DeploymentReadinessReport
from rpx_core.published.task_config import TaskRunConfig

Run = tuple[BenchmarkResult, DeploymentReadinessReport, dict[str, Path]]
"""The result, its readiness, and where both are written: `json` and `markdown`."""


class MonocularDepthRunConfig(TaskRunConfig):
    """A run of `monocular_depth`."""

    task = TaskType.MONOCULAR_DEPTH


class SegmentationRunConfig(TaskRunConfig):
    """A run of `object_segmentation`."""

    task = TaskType.OBJECT_SEGMENTATION


class SemanticSegmentationRunConfig(TaskRunConfig):
    """A run of `semantic_segmentation`."""

    task = "semantic_segmentation"


class ObjectDetectionRunConfig(TaskRunConfig):
    """A run of `object_detection`."""

    task = TaskType.OBJECT_DETECTION


class OpenVocabDetectionRunConfig(TaskRunConfig):
    """A run of `open_vocab_detection`."""

    task = TaskType.OPEN_VOCAB_DETECTION


class VisualGroundingRunConfig(TaskRunConfig):
    """A run of `visual_grounding`."""

    task = TaskType.VISUAL_GROUNDING


class RelativePoseRunConfig(TaskRunConfig):
    """A run of `relative_camera_pose`."""

    task = TaskType.RELATIVE_CAMERA_POSE


class KeypointMatchingRunConfig(TaskRunConfig):
    """A run of `keypoint_matching`."""

    task = TaskType.KEYPOINT_MATCHING


class TrajectoryRunConfig(TaskRunConfig):
    """A run of `trajectory`."""

    task = "trajectory"


class SparseDepthRunConfig(TaskRunConfig):
    """A run of `sparse_depth`."""

    task = TaskType.SPARSE_DEPTH


class NovelViewSynthesisRunConfig(TaskRunConfig):
    """A run of `novel_view_synthesis`."""

    task = TaskType.NOVEL_VIEW_SYNTHESIS


class ObjectTrackingRunConfig(TaskRunConfig):
    """A run of `object_tracking`."""

    task = TaskType.OBJECT_TRACKING


def run_monocular_depth(cfg: MonocularDepthRunConfig) -> Run:
    """Evaluate a model for `monocular_depth`, resuming where that was interrupted, and report.

    Returns the result, its readiness scores, and the paths of both as `json` and `markdown`. Raises
    ConfigError for an unknown model or dataset, and ModelError where a model object is for another
    task, before anything is run. Samples that fail do not stop a run: once it is finished and
    reported, one of them is raised: TruthWithheldError if a model reached for the ground truth,
    else DatasetError for data that cannot be read, ModelError for predictions, or MetricError.
    """
    return _run(cfg, MonocularDepthRunConfig)


def run_segmentation(cfg: SegmentationRunConfig) -> Run:
    """The same for `object_segmentation`."""
    return _run(cfg, SegmentationRunConfig)


def run_semantic_segmentation(cfg: SemanticSegmentationRunConfig) -> Run:
    """The same for `semantic_segmentation`."""
    return _run(cfg, SemanticSegmentationRunConfig)


def run_object_detection(cfg: ObjectDetectionRunConfig) -> Run:
    """The same for `object_detection`."""
    return _run(cfg, ObjectDetectionRunConfig)


def run_open_vocab_detection(
    cfg: OpenVocabDetectionRunConfig | ObjectDetectionRunConfig,
) -> Run:
    """The same for `open_vocab_detection`; an ObjectDetectionRunConfig will do as well."""
    if isinstance(cfg, ObjectDetectionRunConfig):
        cfg = OpenVocabDetectionRunConfig(**vars(cfg))
    return _run(cfg, OpenVocabDetectionRunConfig)


def run_visual_grounding(cfg: VisualGroundingRunConfig) -> Run:
    """The same for `visual_grounding`."""
    return _run(cfg, VisualGroundingRunConfig)


def run_relative_pose(cfg: RelativePoseRunConfig) -> Run:
    """The same for `relative_camera_pose`."""
    return _run(cfg, RelativePoseRunConfig)


def run_keypoint_matching(cfg: KeypointMatchingRunConfig) -> Run:
    """The same for `keypoint_matching`."""
    return _run(cfg, KeypointMatchingRunConfig)


def run_trajectory(cfg: TrajectoryRunConfig) -> Run:
    """The same for `trajectory`."""
    return _run(cfg, TrajectoryRunConfig)


def run_sparse_depth(cfg: SparseDepthRunConfig) -> Run:
    """The same for `sparse_depth`."""
    return _run(cfg, SparseDepthRunConfig)


def run_novel_view_synthesis(cfg: NovelViewSynthesisRunConfig) -> Run:
    """The same for `novel_view_synthesis`."""
    return _run(cfg, NovelViewSynthesisRunConfig)


def run_object_tracking(cfg: ObjectTrackingRunConfig) -> Run:
    """The same for `object_tracking`."""
    return _run(cfg, ObjectTrackingRunConfig)


def _run(cfg: TaskRunConfig, kind: type[TaskRunConfig]) -> Run:
    if not isinstance(cfg, kind):
        raise ConfigError(
            f"a {kind.__name__} was expected, not a {type(cfg).__name__}",
            hint="each run_<task> takes the configuration class of its task",
        )
    from rpx_core.published.task_runs import run_task

    return run_task(cfg)
