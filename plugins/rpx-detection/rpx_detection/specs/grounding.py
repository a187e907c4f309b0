"""What is offered for grounding: the box that an expression refers to."""

from __future__ import annotations

from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, TaskSpec

_GROUNDING = ("visual_grounding",)

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="visual_grounding",
        summary="the box that an expression refers to",
        target="rpx_detection.grounding:VisualGrounding",
        metrics={"grounding": "grounding-accuracy"},
        primary="grounding.acc50",
        baseline="blobs-grounding",
        requires=("rgb",),
        assets=("expressions", "text", "boxes", "labels"),
        adapter="numpy-grounding",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="grounding-accuracy",
        summary="share of expressions whose best box overlaps what they refer to",
        target="rpx_detection.metrics.grounding:GroundingAccuracy",
        tasks=_GROUNDING,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-grounding",
        summary="a function from RGB and an expression to boxes and scores",
        target="rpx_detection.adapters:wrap_grounder",
        options="rpx_detection.adapters:BoxFormat",
        tasks=_GROUNDING,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="blobs-grounding",
        summary="colour, shape and place words matched with things of one strong colour",
        target="rpx_detection.models.blobs:load_grounder",
        options="rpx_detection.models.blobs:BlobsOptions",
        tasks=_GROUNDING,
    ),
)
