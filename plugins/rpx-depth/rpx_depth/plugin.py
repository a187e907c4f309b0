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

_DEPTH = ("monocular_depth",)


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer dense depth."""
    return [
        TaskSpec(
            name="monocular_depth",
            summary="metric depth of every pixel from one image",
            target="rpx_depth.task:MonocularDepth",
            options="rpx_depth.task:MonocularDepthOptions",
            metrics={"depth": "depth-errors", "bins": "depth-bins"},
            stability={"rpx-1": "depth-stability-published", "rpx-2": "depth-stability"},
            primary="depth.absrel",
            baseline="ground-plane",
            requires=("rgb", "depth"),
            assets=("depth_scale", "rgb_right", "intrinsics_right", "baseline_m"),
            alignments=("none", "median", "affine", "disparity", "inverse_depth"),
            adapter="numpy-depth",
        )
    ]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer pixel errors, errors by range, quantiles and temporal stability."""
    metrics = "rpx_depth.metrics"
    return [
        MetricSpec(
            name="depth-errors",
            summary="AbsRel, RMSE, SILog, deltas and the rest, with coverage",
            target=f"{metrics}.errors:DepthErrors",
            tasks=_DEPTH,
        ),
        MetricSpec(
            name="depth-bins",
            summary="depth errors by range: near, mid, far",
            target=f"{metrics}.bins:DepthBins",
            options=f"{metrics}.bins:DepthBinsOptions",
            tasks=_DEPTH,
        ),
        MetricSpec(
            name="depth-quantiles",
            summary="median and 90th percentile of pixel errors, within 0.8 %",
            target=f"{metrics}.quantiles:DepthQuantiles",
            tasks=_DEPTH,
        ),
        MetricSpec(
            name="depth-stability",
            summary="whether depth changes from frame to frame as the truth does (rpx-2)",
            target=f"{metrics}.stability:DepthStability",
            tasks=_DEPTH,
        ),
        MetricSpec(
            name="depth-stability-published",
            summary="how little depth changes from frame to frame, as published (rpx-1)",
            target=f"{metrics}.stability:PublishedDepthStability",
            tasks=_DEPTH,
        ),
    ]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer the adapter for functions from image to depth map."""
    return [
        AdapterSpec(
            name="numpy-depth",
            summary="a function from RGB to a depth map in metres, resized to the image",
            target="rpx_depth.adapters:wrap",
            tasks=_DEPTH,
        )
    ]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models that need no learned weights."""
    models = "rpx_depth.models"
    return [
        ModelSpec(
            name="mean-depth",
            summary="one depth everywhere",
            target=f"{models}.mean_depth:load",
            options=f"{models}.mean_depth:MeanDepthOptions",
            tasks=_DEPTH,
        ),
        ModelSpec(
            name="ground-plane",
            summary="a plane below a camera that looks down at it",
            target=f"{models}.ground_plane:load",
            options=f"{models}.ground_plane:GroundPlaneOptions",
            tasks=_DEPTH,
        ),
        ModelSpec(
            name="stereo-sgbm",
            summary="classical stereo matching (OpenCV) of a rectified pair",
            target=f"{models}.stereo_sgbm:load",
            options=f"{models}.stereo_sgbm:StereoSgbmOptions",
            tasks=_DEPTH,
            needs=("rgb_right", "baseline_m", "intrinsics"),
            extra="stereo",
            modules=("cv2",),
        ),
    ]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the folder layouts in which depth data is usually kept."""
    return [
        DatasetSpec(
            name=name,
            summary=summary,
            target=f"rpx_depth.layouts.{name}:open_{name}",
            options=f"rpx_depth.layouts.{name}:{name.title()}Options",
            tasks=_DEPTH,
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
            tasks=_DEPTH,
        )
        for name, summary in (
            ("rpx-depth-1", "indoor robots: 0.3 to 5 m, no alignment"),
            ("nyu-eigen-1", "NYU Depth v2: Eigen crop, up to 10 m"),
            ("kitti-eigen-1", "KITTI: Garg crop, up to 80 m"),
        )
    ]
