"""What rpx-nvs offers to rpx: specs only, nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, ProtocolSpec, TaskSpec
from rpx_nvs import specs


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer novel view synthesis."""
    return specs.TASKS


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer pixel errors, structural and perceptual similarity, and temporal stability."""
    return [*specs.METRICS, *specs.LEARNED_METRICS]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer the adapter for functions from image and pose to image."""
    return specs.ADAPTERS


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models that need no learned weights."""
    return specs.MODELS


@hookimpl
def rpx_protocols() -> Iterable[ProtocolSpec]:
    """Offer the protocols that view synthesis is compared by."""
    return specs.PROTOCOLS
