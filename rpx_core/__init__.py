"""Evaluate perception models for robots: which one to deploy, and how sure you can be.

`import rpx_core as rpx` offers every published name, whichever distribution it lives in; each is
imported when it is first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__version__ = "0.1.0"

PUBLISHED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        name: (distribution, f"{module}:{name}")
        for distribution, module, names in (
            (
                "rpx-core",
                "rpx_core.contracts",
                "Difficulty Phase Sample TaskType",
            ),
            (
                "rpx-core",
                "rpx_core.published.models",
                "BenchmarkModel BenchmarkableModel InputAdapter OutputAdapter PreparedInput "
                "default_invoker validate_prediction",
            ),
            (
                "rpx-core",
                "rpx_core.published.catalogue",
                "available_models get_factory resolve",
            ),
            (
                "rpx-core",
                "rpx_core.published.suites",
                "MetricSuite compute_metrics",
            ),
            (
                "rpx-core",
                "rpx_core.published.results",
                "BenchmarkResult DeploymentReadinessReport",
            ),
            (
                "rpx-core",
                "rpx_core.published.running",
                "BenchmarkRunner",
            ),
            (
                "rpx-core",
                "rpx_core.published.tasks",
                "KeypointMatchingRunConfig MonocularDepthRunConfig NovelViewSynthesisRunConfig "
                "ObjectDetectionRunConfig ObjectTrackingRunConfig OpenVocabDetectionRunConfig "
                "RelativePoseRunConfig SegmentationRunConfig SemanticSegmentationRunConfig "
                "SparseDepthRunConfig TrajectoryRunConfig VisualGroundingRunConfig "
                "run_keypoint_matching run_monocular_depth run_novel_view_synthesis "
                "run_object_detection run_object_tracking run_open_vocab_detection "
                "run_relative_pose run_segmentation run_semantic_segmentation run_sparse_depth "
                "run_trajectory run_visual_grounding",
            ),
            (
                "rpx-core",
                "rpx_core.published.task_config",
                "TaskRunConfig",
            ),
            (
                "rpx-core",
                "rpx_core.published.reports",
                "format_markdown_summary write_json",
            ),
            (
                "rpx-core",
                "rpx_core.published.logs",
                "configure_logging get_logger show_banner",
            ),
            (
                "rpx-core",
                "rpx_core.errors",
                "AdapterError ConfigError DatasetError DownloadError ManifestError MetricError "
                "ModelError RPXError TruthWithheldError",
            ),
            (
                "rpx-depth",
                "rpx_depth.published",
                "DepthGroundTruth DepthPrediction HFDepthInputAdapter HFDepthOutputAdapter "
                "SparseDepthGroundTruth SparseDepthPrediction "
                "compute_temporal_stability_depth make_hf_depth_model make_numpy_depth_model "
                "make_numpy_sparse_depth_model",
            ),
            (
                "rpx-core",
                "rpx_core.published.readiness",
                "ESDResult StackGeometricCoherenceResult StateTransitionRobustnessResult "
                "TemporalStabilityResult WeightedPhaseScore "
                "compute_esd compute_sgc compute_str compute_temporal_stability_seg "
                "compute_weighted_phase_score",
            ),
            (
                "rpx-core",
                "rpx_core.published.datasets",
                "RPXDataset",
            ),
            (
                "rpx-core",
                "rpx_core.published.efficiency",
                "EfficiencyMetadata count_flops_torch count_parameters profile_model",
            ),
            (
                "rpx-core",
                "rpx_core.published.hub",
                "download_split fetch_manifest load mount",
            ),
            (
                "rpx-detection",
                "rpx_detection.published",
                "DetectionGroundTruth DetectionPrediction Tracklet TrackletGroundTruth "
                "TrackletPrediction VisualGroundingGroundTruth VisualGroundingPrediction "
                "make_numpy_detection_model make_numpy_grounding_model "
                "make_numpy_tracking_model",
            ),
            (
                "rpx-nvs",
                "rpx_nvs.published",
                "NovelViewSynthesisGroundTruth NovelViewSynthesisPrediction make_numpy_nvs_model",
            ),
            (
                "rpx-pose",
                "rpx_pose.published",
                "KeypointCorrespondenceGroundTruth KeypointCorrespondencePrediction "
                "RelativePoseGroundTruth RelativePosePrediction Trajectory TrajectoryPrediction "
                "make_numpy_keypoint_model make_numpy_pose_model make_numpy_trajectory_model",
            ),
            (
                "rpx-seg",
                "rpx_seg.published",
                "HFInstanceSegInputAdapter HFInstanceSegOutputAdapter SegmentationGroundTruth "
                "SegmentationPrediction SemanticGroundTruth SemanticPrediction "
                "make_hf_instance_seg_model make_numpy_mask_model make_numpy_semantic_model",
            ),
        )
        for name in names.split()
    }
)
"""Every published name: the distribution it comes with, and where it is defined."""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _installed()
    if name not in PUBLISHED:
        raise AttributeError(f"module 'rpx_core' has no attribute {name!r}")
    distribution, target = PUBLISHED[name]
    module, _, attribute = target.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module.partition(".")[0], module):
            raise  # something that the module itself needs
        command = "pip install" if error.name != module else "pip install --upgrade"
        raise AttributeError(
            f"rpx_core.{name} comes with {distribution}: {command} {distribution}"
        ) from error
    if not hasattr(loaded, attribute):
        raise AttributeError(
            f"rpx_core.{name} comes with a newer {distribution}: "
            f"pip install --upgrade {distribution}"
        )
    value = getattr(loaded, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLISHED})


def _installed() -> list[str]:
    """What a star import gives: the published names whose distribution is there."""
    from importlib.util import find_spec

    packages = {target.partition(".")[0] for _, target in PUBLISHED.values()}
    found = {package for package in packages if find_spec(package) is not None}
    return sorted(
        name for name, (_, target) in PUBLISHED.items() if target.partition(".")[0] in found
    )
