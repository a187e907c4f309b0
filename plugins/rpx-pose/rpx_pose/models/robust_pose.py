"""Relative poses from matches by the robust estimators of OpenCV and PoseLib.

Both return what takes points of the first camera to the second; the task's pose is its inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_pose.epipolar import rays
from rpx_pose.models.images import pair_images
from rpx_pose.types import KeypointCorrespondencePrediction, RelativePosePrediction

Floats = NDArray[np.float64]
Cameras = tuple[Floats, Floats]
Estimator = Callable[
    [KeypointCorrespondencePrediction, Sample, Cameras, float], RelativePosePrediction
]

_CONFIDENCE = 0.9999
_FEWEST = 6
"""Five matches always agree on some pose."""


def estimate_by_magsac(
    matches: KeypointCorrespondencePrediction,
    sample: Sample,
    cameras: Cameras,
    threshold_px: float,
) -> RelativePosePrediction:
    """OpenCV's USAC_MAGSAC on calibrated points, then the side of the cameras that sees them."""
    import cv2

    if len(matches.points0) < _FEWEST:
        return RelativePosePrediction.no_pose()
    points0, points1 = rays(matches.points0, cameras[0]), rays(matches.points1, cameras[1])
    focal = float(np.mean([camera[i, i] for camera in cameras for i in (0, 1)]))
    essential, mask = cv2.findEssentialMat(
        points0, points1, np.eye(3), cv2.USAC_MAGSAC, _CONFIDENCE, threshold_px / focal
    )
    # A rare degenerate set gives several matrices below each other, or none.
    if essential is None or essential.shape != (3, 3):
        return RelativePosePrediction.no_pose()
    seen, rotation, translation, _ = cv2.recoverPose(
        essential, points0, points1, np.eye(3), mask=mask
    )
    if seen < _FEWEST:
        return RelativePosePrediction.no_pose()
    return _inverse(np.asarray(rotation, np.float64), np.asarray(translation, np.float64))


def estimate_by_poselib(
    matches: KeypointCorrespondencePrediction,
    sample: Sample,
    cameras: Cameras,
    threshold_px: float,
) -> RelativePosePrediction:
    """PoseLib's LO-RANSAC with its default refinement, from a fixed seed."""
    import poselib

    if len(matches.points0) < _FEWEST:
        return RelativePosePrediction.no_pose()
    described = [
        _pinhole(camera, image) for camera, image in zip(cameras, pair_images(sample), strict=True)
    ]
    pose, found = poselib.estimate_relative_pose(
        matches.points0,
        matches.points1,
        *described,
        {"max_epipolar_error": threshold_px, "seed": 0},
        {},
    )
    if found["num_inliers"] < _FEWEST:
        return RelativePosePrediction.no_pose()
    return _inverse(np.asarray(pose.R, np.float64), np.asarray(pose.t, np.float64))


def _pinhole(camera: Floats, image: NDArray[np.uint8]) -> dict[str, Any]:
    parameters = [camera[0, 0], camera[1, 1], camera[0, 2], camera[1, 2]]
    return {
        "model": "PINHOLE",
        "width": image.shape[1],
        "height": image.shape[0],
        "params": [float(value) for value in parameters],
    }


def _inverse(rotation: Floats, translation: Floats) -> RelativePosePrediction:
    back = rotation.T
    return RelativePosePrediction(back, -back @ translation.reshape(3), scale_known=False)
