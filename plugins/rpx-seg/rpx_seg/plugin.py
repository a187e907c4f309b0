"""What rpx-seg offers to rpx: specs only, nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import AdapterSpec, DatasetSpec, MetricSpec, ModelSpec, TaskSpec
from rpx_seg.specs import instance, semantic, shared


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer instance and semantic segmentation."""
    return [*instance.TASKS, *semantic.TASKS]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer mask, panoptic, boundary and class metrics, and temporal stability."""
    return [*instance.METRICS, *semantic.METRICS, *shared.METRICS]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer the adapters for functions from image to ids."""
    return [*instance.ADAPTERS, *semantic.ADAPTERS]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models that need no learned weights, and any of transformers."""
    return [*instance.MODELS, *semantic.MODELS, *shared.MODELS]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the folder layout in which masks are usually kept."""
    return shared.DATASETS
