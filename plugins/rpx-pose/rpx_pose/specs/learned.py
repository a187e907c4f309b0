"""The specs of models with learned weights: backbones of timm."""

from __future__ import annotations

from dataclasses import replace

from rpx_core.specs import ModelSpec

_TARGETS = "rpx_pose.models.timm_dense"

_MATCHER = ModelSpec(
    name="timm-dense",
    summary="features of any timm backbone, mutual nearest neighbours",
    target=f"{_TARGETS}:load",
    options=f"{_TARGETS}:TimmOptions",
    argument="architecture",
    tasks=("keypoint_matching",),
    extra="timm",
    modules=("torch", "timm"),
)

MODELS = (
    _MATCHER,
    replace(_MATCHER, name="timm", summary=f"{_MATCHER.summary}; the same as timm-dense"),
    replace(
        _MATCHER,
        name="timm-pose",
        summary="features of any timm backbone, five-point RANSAC (numpy)",
        target=f"{_TARGETS}:load_pose",
        options=f"{_TARGETS}:TimmPoseOptions",
        tasks=("relative_camera_pose",),
        needs=("intrinsics",),
    ),
)
