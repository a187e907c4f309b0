"""What rpx-detection offers to rpx: specs only, nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    TaskSpec,
)
from rpx_detection.specs import detection, grounding, learned, tracking


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer detection of known and of named classes, grounding, and tracking."""
    return [*detection.TASKS, *grounding.TASKS, *tracking.TASKS]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer average precision, F1, confusion, checks, grounding accuracy, and those of tracks."""
    return [*detection.METRICS, *grounding.METRICS, *tracking.METRICS]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer adapters for functions of an image, of an image and an expression, and of frames."""
    return [*detection.ADAPTERS, *grounding.ADAPTERS, *tracking.ADAPTERS]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer detectors and trackers that need no download, and any detector of transformers."""
    return [*detection.MODELS, *grounding.MODELS, *learned.MODELS, *tracking.MODELS]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the folder layouts in which boxes and tracks are usually kept."""
    return [*detection.DATASETS, *tracking.DATASETS]


@hookimpl
def rpx_protocols() -> Iterable[ProtocolSpec]:
    """Offer the protocols that detectors and trackers are compared by."""
    return [*detection.PROTOCOLS, *tracking.PROTOCOLS]
