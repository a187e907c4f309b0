"""What is offered for the relative pose of two cameras."""

from __future__ import annotations

from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, ProtocolSpec, TaskSpec
from rpx_pose.specs.pairs import FEATURES, PAIR_ASSETS

_POSE = ("relative_camera_pose",)
_METRICS = "rpx_pose.metrics"
_MODELS = "rpx_pose.models"

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="relative_camera_pose",
        summary="rotation and translation between the cameras of two images",
        target="rpx_pose.tasks.relative_pose:RelativeCameraPose",
        options="rpx_pose.tasks.relative_pose:RelativeCameraPoseOptions",
        metrics={"pose": "pose-errors", "auc": "pose-auc"},
        primary="pose.rotation_error_deg",
        baseline="lucas-kanade-pose",
        requires=("rgb",),
        assets=PAIR_ASSETS,
        adapter="numpy-pose",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="pose-errors",
        summary="rotation, direction and translation error of relative poses",
        target=f"{_METRICS}.pose_errors:RelativePoseErrors",
        options=f"{_METRICS}.pose_errors:PoseErrorOptions",
        tasks=_POSE,
    ),
    MetricSpec(
        name="pose-auc",
        summary="pose AUC at 5, 10 and 20 degrees by three definitions, and mAA",
        target=f"{_METRICS}.pose_auc:PoseAuc",
        options=f"{_METRICS}.pose_errors:PoseErrorOptions",
        tasks=_POSE,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-pose",
        summary="a function from two images to a rotation and a translation",
        target="rpx_pose.adapters:wrap_pose",
        options="rpx_pose.adapters:NumpyPoseOptions",
        tasks=_POSE,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="identity-pose",
        summary="the camera never moved",
        target=f"{_MODELS}.identity_pose:load",
        tasks=_POSE,
    ),
    ModelSpec(
        name="lucas-kanade-pose",
        summary="corners followed by optical flow, five-point RANSAC (numpy)",
        target=f"{_MODELS}.lucas_kanade:load_pose",
        options=f"{_MODELS}.lucas_kanade:LucasKanadePoseOptions",
        tasks=_POSE,
    ),
    *(
        ModelSpec(
            name=f"{kind}-pose",
            summary=f"{kind.upper()} matches and USAC_MAGSAC (OpenCV)",
            target=f"{_MODELS}.features:load_{kind}_pose",
            options=f"{_MODELS}.features:FeaturePoseOptions",
            tasks=_POSE,
            needs=("intrinsics",),
            extra="features",
            modules=("cv2",),
        )
        for kind in FEATURES
    ),
    ModelSpec(
        name="sift-poselib",
        summary="SIFT matches and the LO-RANSAC of PoseLib",
        target=f"{_MODELS}.features:load_sift_poselib",
        options=f"{_MODELS}.features:FeaturePoseOptions",
        tasks=_POSE,
        needs=("intrinsics",),
        extra="poselib",
        modules=("cv2", "poselib"),
    ),
)

PROTOCOLS: tuple[ProtocolSpec, ...] = (
    ProtocolSpec(
        name="rpx-pose-1",
        summary="pairs five frames apart, pose AUC at 5, 10 and 20 degrees",
        target="rpx_pose:protocols/rpx-pose-1.toml",
        tasks=_POSE,
    ),
)
