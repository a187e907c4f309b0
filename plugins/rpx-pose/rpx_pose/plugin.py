"""What rpx-pose offers to rpx: specs only, nothing heavy is imported."""

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
from rpx_pose.learned import LEARNED_MODELS

_POSE = ("relative_camera_pose",)
_KEYPOINTS = ("keypoint_matching",)
_TRAJECTORY = ("trajectory",)
_ASSETS = ("rgb_b", "intrinsics_b", "pose_a", "pose_b")
_FEATURES = ("sift", "orb", "akaze")


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer relative pose, keypoint matching and trajectories."""
    return [
        TaskSpec(
            name="relative_camera_pose",
            summary="rotation and translation between the cameras of two images",
            target="rpx_pose.tasks.relative_pose:RelativeCameraPose",
            options="rpx_pose.tasks.relative_pose:RelativeCameraPoseOptions",
            metrics={"pose": "pose-errors", "auc": "pose-auc"},
            primary="pose.rotation_error_deg",
            baseline="lucas-kanade-pose",
            requires=("rgb",),
            assets=_ASSETS,
            adapter="numpy-pose",
        ),
        TaskSpec(
            name="keypoint_matching",
            summary="which pixels of two images show the same points",
            target="rpx_pose.tasks.keypoints:KeypointMatching",
            options="rpx_pose.tasks.keypoints:KeypointMatchingOptions",
            metrics={
                "matches": "keypoint-matches",
                "epipolar": "epipolar-precision",
                "published": "keypoint-published",
            },
            primary="matches.pck_3px",
            baseline="lucas-kanade",
            requires=("rgb",),
            assets=(
                *_ASSETS,
                *("correspondences", "points0", "points1", "visibility", "homography"),
            ),
            adapter="numpy-keypoint",
        ),
        TaskSpec(
            name="trajectory",
            summary="the path of a camera or robot against a reference (TUM, KITTI, EuRoC files)",
            target="rpx_pose.tasks.trajectory:TrajectoryTask",
            options="rpx_pose.tasks.trajectory:TrajectoryOptions",
            metrics={
                "ate_se3": "ate-se3",
                "ate_sim3": "ate-sim3",
                "ate_origin": "ate-origin",
                "rpe": "rpe",
            },
            primary="ate_se3.rmse_m",
            baseline="static-trajectory",
            requires=(),
            assets=("trajectory", "poses", "timestamps", "estimate"),
            adapter="numpy-trajectory",
        ),
    ]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer errors and areas of poses, match quality, and trajectory errors."""
    errors = "pose_errors:PoseErrorOptions"
    return [
        _metric(
            "pose-errors",
            "rotation, direction and translation error of relative poses",
            ("pose_errors:RelativePoseErrors", errors),
            _POSE,
        ),
        _metric(
            "pose-auc",
            "pose AUC at 5, 10 and 20 degrees by three definitions, and mAA",
            ("pose_auc:PoseAuc", errors),
            _POSE,
        ),
        _metric(
            "keypoint-matches",
            "PCK, precision and error of matches, with a gate where they start",
            ("matches:KeypointMatches", "matches:MatchOptions"),
            _KEYPOINTS,
        ),
        _metric(
            "keypoint-pck",
            "PCK at a threshold relative to the image or to the points' extent",
            ("pck:RelativePck", "pck:PckOptions"),
            _KEYPOINTS,
        ),
        _metric(
            "keypoint-published",
            "keypoint_acc and mean_match_error as published, without a gate",
            ("published_matches:PublishedMatches", None),
            _KEYPOINTS,
        ),
        _metric(
            "epipolar-precision",
            "matches that agree with the true epipolar geometry",
            ("epipolar:EpipolarPrecision", None),
            _KEYPOINTS,
        ),
        _metric(
            "homography-accuracy",
            "corner error and AUC, matching accuracy, where the truth is a homography",
            ("homography:HomographyAccuracy", "homography:HomographyOptions"),
            _KEYPOINTS,
        ),
        *(
            _metric(
                name, f"absolute trajectory error, {how}", (f"absolute:{kind}", None), _TRAJECTORY
            )
            for name, how, kind in (
                ("ate-none", "not aligned", "AteNone"),
                ("ate-origin", "first poses made equal", "AteOrigin"),
                ("ate-se3", "after the best rigid motion", "AteSe3"),
                ("ate-sim3", "after the best rigid motion and scale", "AteSim3"),
            )
        ),
        _metric(
            "rpe",
            "relative pose error over steps of frames or metres",
            ("relative:RelativeError", "relative:RelativeErrorOptions"),
            _TRAJECTORY,
        ),
    ]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer the adapters for functions of two images, and of timestamps."""
    return [
        AdapterSpec(
            name="numpy-pose",
            summary="a function from two images to a rotation and a translation",
            target="rpx_pose.adapters:wrap_pose",
            options="rpx_pose.adapters:NumpyPoseOptions",
            tasks=_POSE,
        ),
        AdapterSpec(
            name="numpy-keypoint",
            summary="a function from two images to matching pixels",
            target="rpx_pose.adapters:wrap_keypoints",
            tasks=_KEYPOINTS,
        ),
        AdapterSpec(
            name="numpy-trajectory",
            summary="a function from timestamps to poses (n, 4, 4)",
            target="rpx_pose.adapters:wrap_trajectory",
            tasks=_TRAJECTORY,
        ),
    ]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models that need no learned weights, and backbones of timm."""
    models = "rpx_pose.models"
    return [
        ModelSpec(
            name="identity-pose",
            summary="the camera never moved",
            target=f"{models}.identity_pose:load",
            tasks=_POSE,
        ),
        ModelSpec(
            name="lucas-kanade-pose",
            summary="corners followed by optical flow, five-point RANSAC (numpy)",
            target=f"{models}.lucas_kanade:load_pose",
            options=f"{models}.lucas_kanade:LucasKanadePoseOptions",
            tasks=_POSE,
        ),
        ModelSpec(
            name="lucas-kanade",
            summary="the points asked for, followed by optical flow (numpy)",
            target=f"{models}.lucas_kanade:load_matches",
            options=f"{models}.lucas_kanade:LucasKanadeOptions",
            tasks=_KEYPOINTS,
        ),
        ModelSpec(
            name="static-trajectory",
            summary="stands still at the origin",
            target=f"{models}.trajectories:load_static",
            tasks=_TRAJECTORY,
        ),
        ModelSpec(
            name="listed-estimate",
            summary="the trajectory that the record lists as estimate",
            target=f"{models}.trajectories:load_listed",
            tasks=_TRAJECTORY,
            needs=("estimate",),
        ),
        *(_matcher(kind) for kind in _FEATURES),
        *(_pose_estimator(f"{kind}-pose", kind, "USAC_MAGSAC (OpenCV)") for kind in _FEATURES),
        _pose_estimator("sift-poselib", "sift", "the LO-RANSAC of PoseLib", library="poselib"),
        *LEARNED_MODELS,
    ]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the images and poses of RPX, and folders of trajectory files."""
    return [
        DatasetSpec(
            name="rpx-poses",
            summary="images and poses of the unpacked RPX release, failed captures left out",
            target="rpx_pose.layouts.rpx_poses:open_rpx_poses",
            options="rpx_pose.layouts.rpx_poses:RpxPosesOptions",
            tasks=(*_POSE, *_TRAJECTORY),
            layout=True,
        ),
        DatasetSpec(
            name="trajectories",
            summary="a folder of reference trajectories: TUM, KITTI (with times) or EuRoC files",
            target="rpx_pose.layouts.trajectories:open_trajectories",
            options="rpx_pose.layouts.trajectories:TrajectoriesOptions",
            tasks=_TRAJECTORY,
            layout=True,
        ),
    ]


@hookimpl
def rpx_protocols() -> Iterable[ProtocolSpec]:
    """Offer the protocols that pose models and matchers are compared by."""
    return [
        ProtocolSpec(
            name=name,
            summary=summary,
            target=f"rpx_pose:protocols/{name}.toml",
            tasks=tasks,
        )
        for name, summary, tasks in (
            ("rpx-pose-1", "pairs five frames apart, pose AUC at 5, 10 and 20 degrees", _POSE),
            ("homography-480-1", "planes at 480 px: corner AUC and accuracy", _KEYPOINTS),
        )
    ]


def _metric(
    name: str, summary: str, targets: tuple[str, str | None], tasks: tuple[str, ...]
) -> MetricSpec:
    """A metric from its class and, where it has any, its options."""
    target, options = (f"rpx_pose.metrics.{path}" if path else None for path in targets)
    return MetricSpec(name=name, summary=summary, target=str(target), options=options, tasks=tasks)


def _matcher(kind: str) -> ModelSpec:
    return ModelSpec(
        name=kind,
        summary=f"{kind.upper()} features, mutual nearest neighbours (OpenCV)",
        target=f"rpx_pose.models.features:load_{kind}",
        options="rpx_pose.models.features:FeatureOptions",
        tasks=_KEYPOINTS,
        extra="features",
        modules=("cv2",),
    )


def _pose_estimator(
    name: str, kind: str, estimator: str, *, library: str | None = None
) -> ModelSpec:
    return ModelSpec(
        name=name,
        summary=f"{kind.upper()} matches and {estimator}",
        target=f"rpx_pose.models.features:load_{name.replace('-', '_')}",
        options="rpx_pose.models.features:FeaturePoseOptions",
        tasks=_POSE,
        needs=("intrinsics",),
        extra=library or "features",
        modules=("cv2", library) if library else ("cv2",),
    )
