"""The specs of models with learned weights: any of transformers, and those known by name."""

from __future__ import annotations

from rpx_core.specs import ModelSpec

_DENSE = ("monocular_depth",)
_MODELS = "rpx_depth.models"
_SLATE = f"{_MODELS}.slate"
_UNIDEPTH = "pip install 'unidepth @ git+https://github.com/lpiccinelli-eth/UniDepth'"

_LIBRARIES = ("torch", "transformers")
_HF = (
    ("depth_anything_v2_metric_indoor_small", "Depth Anything V2, indoor", "DepthAnythingSmall"),
    ("depth_anything_v2_metric_indoor_base", "Depth Anything V2, indoor", "DepthAnythingBase"),
    ("depth_anything_v2_metric_indoor_large", "Depth Anything V2, indoor", "DepthAnythingLarge"),
)
_HF_WITH_TORCHVISION = (
    ("depth_pro", "Depth Pro", "DepthPro"),
    ("zoedepth_nyu", "ZoeDepth, trained on NYU", "ZoeDepthNyu"),
)
_UNI = (
    ("unidepth_v2_vitb", "UniDepth V2, ViT-B", "UniDepthBase"),
    ("unidepth_v2_vitl", "UniDepth V2, ViT-L", "UniDepthLarge"),
)
_METRIC3D = (
    ("metric3d_v2_vit_small", "Metric3D V2, ViT-S", "Metric3dSmall"),
    ("metric3d_v2_vit_large", "Metric3D V2, ViT-L", "Metric3dLarge"),
    ("metric3d_v2_vit_giant2", "Metric3D V2, ViT-g", "Metric3dGiant"),
)
_UNAVAILABLE = (
    (
        "video_depth_anything_large",
        "Video Depth Anything, ViT-L",
        "its weights come with its authors' code alone, and it answers clips, not images",
    ),
    (
        "prompt_depth_anything_vits",
        "Prompt Depth Anything, ViT-S",
        "it completes a LiDAR depth map, which no task gives to a model",
    ),
    (
        "depth_anything_3",
        "Depth Anything 3",
        "its weights come with its authors' code alone; no released library loads them",
    ),
)

MODELS = (
    ModelSpec(
        name="hf",
        summary="any depth estimator of transformers, from a folder or the hub",
        target=f"{_MODELS}.hf:load",
        options=f"{_MODELS}.hf:HfDepthOptions",
        argument="checkpoint",
        does=f"{_MODELS}.hf:tasks",
        tasks=_DENSE,
        extra="hf",
        modules=_LIBRARIES,
    ),
    *(
        ModelSpec(
            name=name,
            summary=f"{summary} (transformers)",
            target=f"{_MODELS}.hf:load",
            options=f"{_SLATE}:{options}",
            tasks=_DENSE,
            extra=extra,
            modules=(*_LIBRARIES, *more),
        )
        for models, extra, more in (
            (_HF, "hf", ()),
            (_HF_WITH_TORCHVISION, "hf-torchvision", ("torchvision",)),
        )
        for name, summary, options in models
    ),
    *(
        ModelSpec(
            name=name,
            summary=f"{summary} (its authors' package)",
            target=f"{_MODELS}.unidepth:load",
            options=f"{_SLATE}:{options}",
            tasks=_DENSE,
            install=_UNIDEPTH,
            modules=("torch", "unidepth"),
        )
        for name, summary, options in _UNI
    ),
    *(
        ModelSpec(
            name=name,
            summary=f"{summary} (torch.hub); needs intrinsics",
            target=f"{_MODELS}.metric3d:load",
            options=f"{_SLATE}:{options}",
            tasks=_DENSE,
            extra="metric3d",
            modules=("torch", "torchvision", "timm", "mmengine"),
        )
        for name, summary, options in _METRIC3D
    ),
)
"""Each is also offered for sparse depth, read at the points."""

DEFERRED = tuple(
    ModelSpec(
        name=name,
        summary=summary,
        target=f"{_MODELS}.hf:load",
        tasks=_DENSE,
        unavailable=reason,
    )
    for name, summary, reason in _UNAVAILABLE
)
"""Names that the benchmark knows, and why they cannot be run."""
