"""What rpx-pose offers to rpx: specs only, nothing heavy is imported."""

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
from rpx_pose.specs import keypoints, learned, relative_pose, trajectory


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer relative pose, keypoint matching and trajectories."""
    return [*relative_pose.TASKS, *keypoints.TASKS, *trajectory.TASKS]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer errors and areas of poses, match quality, and trajectory errors."""
    return [*relative_pose.METRICS, *keypoints.METRICS, *trajectory.METRICS]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer the adapters for functions of two images, and of timestamps."""
    return [*relative_pose.ADAPTERS, *keypoints.ADAPTERS, *trajectory.ADAPTERS]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models that need no learned weights, and backbones of timm."""
    return [*relative_pose.MODELS, *keypoints.MODELS, *trajectory.MODELS, *learned.MODELS]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the images and poses of RPX, and folders of trajectory files."""
    return trajectory.DATASETS


@hookimpl
def rpx_protocols() -> Iterable[ProtocolSpec]:
    """Offer the protocols that pose models and matchers are compared by."""
    return [*relative_pose.PROTOCOLS, *keypoints.PROTOCOLS]
