"""What is offered for depth at given points: its models are those of maps, read there."""

from __future__ import annotations

from dataclasses import replace

from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, TaskSpec
from rpx_depth.specs import learned, monocular

_SPARSE = ("sparse_depth",)

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="sparse_depth",
        summary="metric depth at given points of one image",
        target="rpx_depth.sparse_depth:SparseDepth",
        options="rpx_depth.options:DepthOptions",
        metrics={"depth": "depth-sparse-errors", "published": "depth-sparse-published"},
        primary="depth.absrel",
        baseline="ground-plane-points",
        requires=("rgb", "coordinates", "depths"),
        assets=monocular.RIGHT_VIEW,
        alignments=monocular.ALIGNMENTS,
        adapter="numpy-sparse-depth",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="depth-sparse-errors",
        summary="AbsRel, RMSE, SILog, deltas and the rest at points, with coverage",
        target="rpx_depth.metrics.sparse:SparseDepthErrors",
        tasks=_SPARSE,
    ),
    MetricSpec(
        name="depth-sparse-published",
        summary="sparse_absrel and sparse_rmse as published: no answer counts as 0 m",
        target="rpx_depth.metrics.sparse:PublishedSparseDepthErrors",
        tasks=_SPARSE,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-sparse-depth",
        summary="a function from RGB and points (N, 2) to their depths in metres",
        target="rpx_depth.adapters:wrap_sparse_depth",
        tasks=_SPARSE,
    ),
)


def _read_at_points(dense: ModelSpec) -> ModelSpec:
    """A model of maps with the same options, read at the points of a query."""
    module = dense.target.partition(":")[0].rpartition(".")[2]
    return replace(
        dense,
        name=f"{dense.name}-points",
        summary=f"{dense.summary}, read at points",
        target=f"rpx_depth.models.at_points:load_{module}",
        tasks=_SPARSE,
    )


MODELS = tuple(_read_at_points(dense) for dense in (*monocular.MODELS, *learned.MODELS))
