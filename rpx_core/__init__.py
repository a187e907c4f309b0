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
                "rpx_core.errors",
                "AdapterError ConfigError DatasetError DownloadError ManifestError MetricError "
                "ModelError RPXError TruthWithheldError",
            ),
            (
                "rpx-depth",
                "rpx_depth.published",
                "DepthGroundTruth DepthPrediction make_numpy_depth_model "
                "compute_temporal_stability_depth",
            ),
            (
                "rpx-core",
                "rpx_core.published",
                "ESDResult StateTransitionRobustnessResult TemporalStabilityResult "
                "WeightedPhaseScore compute_esd compute_str compute_weighted_phase_score "
                "RPXDataset",
            ),
        )
        for name in names.split()
    }
)
"""Every published name: the distribution it comes with, and where it is defined."""

__all__ = sorted(PUBLISHED)  # noqa: PLE0605  # a static table, mirrored in __init__.pyi


def __getattr__(name: str) -> Any:
    if name not in PUBLISHED:
        raise AttributeError(f"module 'rpx_core' has no attribute {name!r}")
    distribution, target = PUBLISHED[name]
    module, _, attribute = target.partition(":")
    try:
        value = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise AttributeError(
            f"rpx_core.{name} comes with {distribution}: pip install {distribution}"
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLISHED})
