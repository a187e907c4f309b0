"""What is offered for the class of every pixel."""

from __future__ import annotations

from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, TaskSpec
from rpx_seg.specs.shared import STABILITY

_SEMANTIC = ("semantic_segmentation",)
_METRICS = "rpx_seg.metrics"
_MODELS = "rpx_seg.models"

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="semantic_segmentation",
        summary="the class of every pixel of one image",
        target="rpx_seg.semantic_segmentation:SemanticSegmentation",
        options="rpx_seg.semantic_segmentation:SemanticSegmentationOptions",
        metrics={"semantic": "semantic-iou", "boundary": "semantic-boundary"},
        stability=STABILITY,
        primary="semantic.miou",
        baseline="threshold-semantic",
        requires=("rgb", "semantic"),
        assets=("labels", "depth", "depth_scale"),
        adapter="numpy-semantic",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="semantic-iou",
        summary="IoU, Dice and accuracies from the confusion matrix of classes",
        target=f"{_METRICS}.semantic:SemanticIou",
        options=f"{_METRICS}.semantic:SemanticIouOptions",
        tasks=_SEMANTIC,
    ),
    MetricSpec(
        name="semantic-boundary",
        summary="boundary IoU of classes, boundary F of all outlines",
        target=f"{_METRICS}.boundary:SemanticBoundary",
        options=f"{_METRICS}.boundary:BoundaryOptions",
        tasks=_SEMANTIC,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-semantic",
        summary="a function from RGB to class ids, brought to the image's size",
        target="rpx_seg.adapters:wrap_semantic",
        tasks=_SEMANTIC,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="threshold-semantic",
        summary="table, wall, floor and objects by colour, place and shape",
        target=f"{_MODELS}.threshold_semantic:load",
        options=f"{_MODELS}.threshold_semantic:ThresholdSemanticOptions",
        tasks=_SEMANTIC,
    ),
)
