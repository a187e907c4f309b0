"""What is offered for matching the pixels of two images."""

from __future__ import annotations

from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, ProtocolSpec, TaskSpec
from rpx_pose.specs.pairs import FEATURES, PAIR_ASSETS

_KEYPOINTS = ("keypoint_matching",)
_METRICS = "rpx_pose.metrics"
_MODELS = "rpx_pose.models"

TASKS: tuple[TaskSpec, ...] = (
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
            *PAIR_ASSETS,
            *("correspondences", "points0", "points1", "visibility", "homography"),
        ),
        adapter="numpy-keypoint",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="keypoint-matches",
        summary="PCK, precision and error of matches, with a gate where they start",
        target=f"{_METRICS}.matches:KeypointMatches",
        options=f"{_METRICS}.matches:MatchOptions",
        tasks=_KEYPOINTS,
    ),
    MetricSpec(
        name="keypoint-pck",
        summary="PCK at a threshold relative to the image or to the points' extent",
        target=f"{_METRICS}.pck:RelativePck",
        options=f"{_METRICS}.pck:PckOptions",
        tasks=_KEYPOINTS,
    ),
    MetricSpec(
        name="keypoint-published",
        summary="keypoint_acc and mean_match_error as published, without a gate",
        target=f"{_METRICS}.published_matches:PublishedMatches",
        tasks=_KEYPOINTS,
    ),
    MetricSpec(
        name="epipolar-precision",
        summary="matches that agree with the true epipolar geometry",
        target=f"{_METRICS}.epipolar:EpipolarPrecision",
        tasks=_KEYPOINTS,
    ),
    MetricSpec(
        name="homography-accuracy",
        summary="corner error and AUC, matching accuracy, where the truth is a homography",
        target=f"{_METRICS}.homography:HomographyAccuracy",
        options=f"{_METRICS}.homography:HomographyOptions",
        tasks=_KEYPOINTS,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-keypoint",
        summary="a function from two images to matching pixels",
        target="rpx_pose.adapters:wrap_keypoints",
        tasks=_KEYPOINTS,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="lucas-kanade",
        summary="the points asked for, followed by optical flow (numpy)",
        target=f"{_MODELS}.lucas_kanade:load_matches",
        options=f"{_MODELS}.lucas_kanade:LucasKanadeOptions",
        tasks=_KEYPOINTS,
    ),
    *(
        ModelSpec(
            name=kind,
            summary=f"{kind.upper()} features, mutual nearest neighbours (OpenCV)",
            target=f"{_MODELS}.features:load_{kind}",
            options=f"{_MODELS}.features:FeatureOptions",
            tasks=_KEYPOINTS,
            extra="features",
            modules=("cv2",),
        )
        for kind in FEATURES
    ),
)

PROTOCOLS: tuple[ProtocolSpec, ...] = (
    ProtocolSpec(
        name="homography-480-1",
        summary="planes at 480 px: corner AUC and accuracy",
        target="rpx_pose:protocols/homography-480-1.toml",
        tasks=_KEYPOINTS,
    ),
)
