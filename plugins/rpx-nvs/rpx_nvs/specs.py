"""Specs of what rpx-nvs offers; nothing heavy is imported."""

from __future__ import annotations

from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, ProtocolSpec, TaskSpec

_NVS = ("novel_view_synthesis",)

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="novel_view_synthesis",
        summary="the image of a camera somewhere else, from source views and poses",
        target="rpx_nvs.task:NovelViewSynthesis",
        options="rpx_nvs.options:NovelViewSynthesisOptions",
        metrics={"psnr": "nvs-psnr", "ssim": "nvs-ssim"},
        stability={"rpx-2": "nvs-stability"},
        primary="psnr.psnr",
        baseline="depth-warp",
        requires=("rgb",),
        assets=(
            *("target_rgb", "target_pose", "camera_pose", "target_intrinsics"),
            *("target_depth", "target_depth_scale", "target_mask"),
            *("depth", "depth_scale", "mask", "sources"),
        ),
        adapter="numpy-nvs",
    ),
)

METRICS: tuple[MetricSpec, ...] = tuple(
    MetricSpec(name=name, summary=summary, target=f"rpx_nvs.metrics.{target}", tasks=_NVS)
    for name, summary, target in (
        ("nvs-psnr", "PSNR, also apart for what a source view sees or not", "psnr:Psnr"),
        ("nvs-ssim", "SSIM of the paper (Gaussian 11x11), also apart likewise", "ssim:Ssim"),
        (
            "nvs-ssim-uniform7",
            "SSIM with scikit-image's default window (uniform 7x7)",
            "ssim:SsimUniform7",
        ),
        ("nvs-ms-ssim", "SSIM over five scales", "multi_scale:MultiScaleSsim"),
        (
            "nvs-stability",
            "whether colours change from view to view as the true ones do (rpx-2)",
            "stability:NvsStability",
        ),
        (
            "nvs-published",
            "PSNR with 100 for equal images, one-window SSIM, as the RPX toolkit has them",
            "published:Published",
        ),
    )
)

LEARNED_METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="nvs-lpips",
        summary="LPIPS with AlexNet features",
        target="rpx_nvs.metrics.lpips:Lpips",
        tasks=_NVS,
        extra="lpips",
        modules=("torch",),
    ),
    MetricSpec(
        name="nvs-feature-distance",
        summary="FID and KID over all images, by the features of a network in a file",
        target="rpx_nvs.metrics.feature_distance:FeatureDistance",
        options="rpx_nvs.metrics.feature_distance:FeatureDistanceOptions",
        tasks=_NVS,
        extra="lpips",
        modules=("torch",),
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-nvs",
        summary="a function from RGB and target pose to RGB, brought to the target's size",
        target="rpx_nvs.adapters:wrap",
        options="rpx_nvs.adapters:NumpyNvsOptions",
        tasks=_NVS,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="depth-warp",
        summary="the source pixels moved to where the target sees them, by their depth",
        target="rpx_nvs.models.depth_warp:load",
        tasks=_NVS,
        needs=("depth", "intrinsics"),
    ),
    ModelSpec(
        name="copy-source",
        summary="the source image as it is",
        target="rpx_nvs.models.copy_source:load",
        tasks=_NVS,
    ),
)

PROTOCOLS: tuple[ProtocolSpec, ...] = tuple(
    ProtocolSpec(name=name, summary=summary, target=f"rpx_nvs:protocols/{name}.toml", tasks=_NVS)
    for name, summary in (
        ("rpx-nvs-rgb-1", "the next frame from one image and the poses"),
        ("rpx-nvs-rgbd-1", "the next frame from one image with its depth and the poses"),
    )
)
