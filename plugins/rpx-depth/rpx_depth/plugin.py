"""What rpx-depth offers to rpx: specs only, nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    TaskSpec,
)
from rpx_depth.learned import DEFERRED_MODELS, LEARNED_MODELS

_DENSE = ("monocular_depth",)
_SPARSE = ("sparse_depth",)
_RIGHT_VIEW = ("rgb_right", "intrinsics_right", "baseline_m")
_ALIGNMENTS = ("none", "median", "affine", "disparity", "inverse_depth")


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer depth of every pixel, and depth at given points."""
    return [
        TaskSpec(
            name="monocular_depth",
            summary="metric depth of every pixel from one image",
            target="rpx_depth.monocular_depth:MonocularDepth",
            options="rpx_depth.monocular_depth:MonocularDepthOptions",
            metrics={"depth": "depth-errors", "bins": "depth-bins"},
            stability={"rpx-1": "depth-stability-published", "rpx-2": "depth-stability"},
            primary="depth.absrel",
            baseline="ground-plane",
            requires=("rgb", "depth"),
            assets=("depth_scale", *_RIGHT_VIEW),
            alignments=_ALIGNMENTS,
            adapter="numpy-depth",
        ),
        TaskSpec(
            name="sparse_depth",
            summary="metric depth at given points of one image",
            target="rpx_depth.sparse_depth:SparseDepth",
            options="rpx_depth.options:DepthOptions",
            metrics={"depth": "depth-sparse-errors", "published": "depth-sparse-published"},
            primary="depth.absrel",
            baseline="ground-plane-points",
            requires=("rgb", "coordinates", "depths"),
            assets=_RIGHT_VIEW,
            alignments=_ALIGNMENTS,
            adapter="numpy-sparse-depth",
        ),
    ]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer errors of pixels and points, errors by range, quantiles and temporal stability."""
    return [*_dense_metrics(), *_sparse_metrics()]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer adapters for functions from image to depth map, and to depths at points."""
    return [
        AdapterSpec(
            name="numpy-depth",
            summary="a function from RGB to a depth map in metres, resized to the image",
            target="rpx_depth.adapters:wrap_depth",
            tasks=_DENSE,
        ),
        AdapterSpec(
            name="numpy-sparse-depth",
            summary="a function from RGB and points (N, 2) to their depths in metres",
            target="rpx_depth.adapters:wrap_sparse_depth",
            tasks=_SPARSE,
        ),
    ]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models with and without learned weights, for maps and, read there, for points."""
    dense = [*_dense_models(), *LEARNED_MODELS]
    return [*dense, *map(_at_points, dense), *DEFERRED_MODELS]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the folder layouts in which depth data is usually kept."""
    return [
        DatasetSpec(
            name=name,
            summary=summary,
            target=f"rpx_depth.layouts.{name}:open_{name}",
            options=f"rpx_depth.layouts.{name}:{name.title()}Options",
            tasks=_DENSE,
            layout=True,
        )
        for name, summary in (
            ("rpx", "the unpacked RPX release: scenes/<scene>/<0|1|2>/{rgb,depth,cam_pose}"),
            ("nyu", "NYU Depth v2: <scene>/rgb_N.jpg and <scene>/sync_depth_N.png"),
            ("kitti", "KITTI raw drives with annotated depth (train, val)"),
            ("folders", "two parallel folders rgb/ and depth/ with equal file names"),
        )
    ]


@hookimpl
def rpx_protocols() -> Iterable[ProtocolSpec]:
    """Offer the protocols that depth models are compared by."""
    return [
        ProtocolSpec(
            name=name,
            summary=summary,
            target=f"rpx_depth:protocols/{name}.toml",
            tasks=_DENSE,
        )
        for name, summary in (
            ("rpx-depth-1", "indoor robots: 0.3 to 5 m, no alignment"),
            ("nyu-eigen-1", "NYU Depth v2: Eigen crop, up to 10 m"),
            ("kitti-eigen-1", "KITTI: Garg crop, up to 80 m"),
        )
    ]


def _dense_metrics() -> list[MetricSpec]:
    metrics = "rpx_depth.metrics"
    return [
        MetricSpec(
            name="depth-errors",
            summary="AbsRel, RMSE, SILog, deltas and the rest, with coverage",
            target=f"{metrics}.errors:DepthErrors",
            tasks=_DENSE,
        ),
        MetricSpec(
            name="depth-bins",
            summary="depth errors by range: near, mid, far",
            target=f"{metrics}.bins:DepthBins",
            options=f"{metrics}.bins:DepthBinsOptions",
            tasks=_DENSE,
        ),
        MetricSpec(
            name="depth-quantiles",
            summary="median and 90th percentile of pixel errors, within 0.8 %",
            target=f"{metrics}.quantiles:DepthQuantiles",
            tasks=_DENSE,
        ),
        MetricSpec(
            name="depth-stability",
            summary="whether depth changes from frame to frame as the truth does (rpx-2)",
            target=f"{metrics}.stability:DepthStability",
            tasks=_DENSE,
        ),
        MetricSpec(
            name="depth-stability-published",
            summary="how little depth changes from frame to frame, as published (rpx-1)",
            target=f"{metrics}.stability:PublishedDepthStability",
            tasks=_DENSE,
        ),
    ]


def _sparse_metrics() -> list[MetricSpec]:
    return [
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
    ]


def _dense_models() -> list[ModelSpec]:
    models = "rpx_depth.models"
    return [
        ModelSpec(
            name="mean-depth",
            summary="one depth everywhere",
            target=f"{models}.mean_depth:load",
            options=f"{models}.mean_depth:MeanDepthOptions",
            tasks=_DENSE,
        ),
        ModelSpec(
            name="ground-plane",
            summary="a plane below a camera that looks down at it",
            target=f"{models}.ground_plane:load",
            options=f"{models}.ground_plane:GroundPlaneOptions",
            tasks=_DENSE,
        ),
        ModelSpec(
            name="standing-objects",
            summary="that plane, and what stands on it as flat figures with depth jumps",
            target=f"{models}.standing_objects:load",
            options=f"{models}.standing_objects:StandingObjectsOptions",
            tasks=_DENSE,
        ),
        ModelSpec(
            name="stereo-sgbm",
            summary="classical stereo matching (OpenCV) of a rectified pair",
            target=f"{models}.stereo_sgbm:load",
            options=f"{models}.stereo_sgbm:StereoSgbmOptions",
            tasks=_DENSE,
            needs=("rgb_right", "baseline_m", "intrinsics"),
            extra="stereo",
            modules=("cv2",),
        ),
    ]


def _at_points(dense: ModelSpec) -> ModelSpec:
    """The same model with the same options, read at the points of a query."""
    module = dense.target.partition(":")[0].rpartition(".")[2]
    return replace(
        dense,
        name=f"{dense.name}-points",
        summary=f"{dense.summary}, read at points",
        target=f"rpx_depth.models.at_points:load_{module}",
        tasks=_SPARSE,
    )
