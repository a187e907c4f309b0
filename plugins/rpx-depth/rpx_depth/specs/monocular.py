"""What is offered for depth of every pixel, but for models with learned weights."""

from __future__ import annotations

from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    TaskSpec,
)

_DENSE = ("monocular_depth",)
RIGHT_VIEW = ("rgb_right", "intrinsics_right", "baseline_m")
ALIGNMENTS = ("none", "median", "affine", "disparity", "inverse_depth")
_METRICS = "rpx_depth.metrics"
_MODELS = "rpx_depth.models"

TASKS: tuple[TaskSpec, ...] = (
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
        assets=("depth_scale", *RIGHT_VIEW),
        alignments=ALIGNMENTS,
        adapter="numpy-depth",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="depth-errors",
        summary="AbsRel, RMSE, SILog, deltas and the rest, with coverage",
        target=f"{_METRICS}.errors:DepthErrors",
        tasks=_DENSE,
    ),
    MetricSpec(
        name="depth-bins",
        summary="depth errors by range: near, mid, far",
        target=f"{_METRICS}.bins:DepthBins",
        options=f"{_METRICS}.bins:DepthBinsOptions",
        tasks=_DENSE,
    ),
    MetricSpec(
        name="depth-quantiles",
        summary="median and 90th percentile of pixel errors, within 0.8 %",
        target=f"{_METRICS}.quantiles:DepthQuantiles",
        tasks=_DENSE,
    ),
    MetricSpec(
        name="depth-stability",
        summary="whether depth changes from frame to frame as the truth does (rpx-2)",
        target=f"{_METRICS}.stability:DepthStability",
        tasks=_DENSE,
    ),
    MetricSpec(
        name="depth-stability-published",
        summary="how little depth changes from frame to frame, as published (rpx-1)",
        target=f"{_METRICS}.stability:PublishedDepthStability",
        tasks=_DENSE,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-depth",
        summary="a function from RGB to a depth map in metres, resized to the image",
        target="rpx_depth.adapters:wrap_depth",
        tasks=_DENSE,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="mean-depth",
        summary="one depth everywhere",
        target=f"{_MODELS}.mean_depth:load",
        options=f"{_MODELS}.mean_depth:MeanDepthOptions",
        tasks=_DENSE,
    ),
    ModelSpec(
        name="ground-plane",
        summary="a plane below a camera that looks down at it",
        target=f"{_MODELS}.ground_plane:load",
        options=f"{_MODELS}.ground_plane:GroundPlaneOptions",
        tasks=_DENSE,
    ),
    ModelSpec(
        name="standing-objects",
        summary="that plane, and what stands on it as flat figures with depth jumps",
        target=f"{_MODELS}.standing_objects:load",
        options=f"{_MODELS}.standing_objects:StandingObjectsOptions",
        tasks=_DENSE,
    ),
    ModelSpec(
        name="stereo-sgbm",
        summary="classical stereo matching (OpenCV) of a rectified pair",
        target=f"{_MODELS}.stereo_sgbm:load",
        options=f"{_MODELS}.stereo_sgbm:StereoSgbmOptions",
        tasks=_DENSE,
        needs=("rgb_right", "baseline_m", "intrinsics"),
        extra="stereo",
        modules=("cv2",),
    ),
)

DATASETS: tuple[DatasetSpec, ...] = tuple(
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
)

PROTOCOLS: tuple[ProtocolSpec, ...] = tuple(
    ProtocolSpec(
        name=name, summary=summary, target=f"rpx_depth:protocols/{name}.toml", tasks=_DENSE
    )
    for name, summary in (
        ("rpx-depth-1", "indoor robots: 0.3 to 5 m, no alignment"),
        ("nyu-eigen-1", "NYU Depth v2: Eigen crop, up to 10 m"),
        ("kitti-eigen-1", "KITTI: Garg crop, up to 80 m"),
    )
)
