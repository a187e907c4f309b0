from collections.abc import Mapping

from rpx_core.contracts import Difficulty, Phase, Sample, TaskType
from rpx_core.errors import (
    AdapterError,
    ConfigError,
    DatasetError,
    DownloadError,
    ManifestError,
    MetricError,
    ModelError,
    RPXError,
    TruthWithheldError,
)
from rpx_core.published import (
    ESDResult,
    RPXDataset,
    StackGeometricCoherenceResult,
    StateTransitionRobustnessResult,
    TemporalStabilityResult,
    WeightedPhaseScore,
    compute_esd,
    compute_sgc,
    compute_str,
    compute_temporal_stability_seg,
    compute_weighted_phase_score,
)
from rpx_depth.published import (
    DepthGroundTruth,
    DepthPrediction,
    SparseDepthGroundTruth,
    SparseDepthPrediction,
    compute_temporal_stability_depth,
    make_numpy_depth_model,
    make_numpy_sparse_depth_model,
)

__all__ = [
    "AdapterError",
    "ConfigError",
    "DatasetError",
    "DepthGroundTruth",
    "DepthPrediction",
    "Difficulty",
    "DownloadError",
    "ESDResult",
    "ManifestError",
    "MetricError",
    "ModelError",
    "Phase",
    "RPXDataset",
    "RPXError",
    "Sample",
    "SparseDepthGroundTruth",
    "SparseDepthPrediction",
    "StackGeometricCoherenceResult",
    "StateTransitionRobustnessResult",
    "TaskType",
    "TemporalStabilityResult",
    "TruthWithheldError",
    "WeightedPhaseScore",
    "compute_esd",
    "compute_sgc",
    "compute_str",
    "compute_temporal_stability_depth",
    "compute_temporal_stability_seg",
    "compute_weighted_phase_score",
    "make_numpy_depth_model",
    "make_numpy_sparse_depth_model",
]
__version__: str
PUBLISHED: Mapping[str, tuple[str, str]]
