"""What rpx-depth offers to rpx: specs only, nothing heavy is imported."""

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
from rpx_depth.specs import learned, monocular, sparse


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer depth of every pixel, and depth at given points."""
    return [*monocular.TASKS, *sparse.TASKS]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer errors of pixels and points, errors by range, quantiles and temporal stability."""
    return [*monocular.METRICS, *sparse.METRICS]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer adapters for functions from image to depth map, and to depths at points."""
    return [*monocular.ADAPTERS, *sparse.ADAPTERS]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models with and without learned weights, for maps and, read there, for points."""
    return [*monocular.MODELS, *learned.MODELS, *sparse.MODELS, *learned.DEFERRED]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the folder layouts in which depth data is usually kept."""
    return monocular.DATASETS


@hookimpl
def rpx_protocols() -> Iterable[ProtocolSpec]:
    """Offer the protocols that depth models are compared by."""
    return monocular.PROTOCOLS
