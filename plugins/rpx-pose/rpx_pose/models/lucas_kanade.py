"""Baselines without any library: optical flow for matches, and five points for the pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_pose.essential import Robustness, estimate_pose
from rpx_pose.models.images import assumed_camera, pair_images
from rpx_pose.tracking import Tracker, build_pyramid, find_corners, track
from rpx_pose.types import (
    KeypointCorrespondencePrediction,
    KeypointQuery,
    RelativePosePrediction,
)

Floats = NDArray[np.float64]


class LucasKanadeOptions(BaseModel):
    """How points are followed: `levels` scales, windows of 2·`radius` + 1 pixels.

    A point counts as found when following it back ends within `back_px` of its start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    radius: Annotated[int, Field(ge=2, le=31)] = 7
    levels: Annotated[int, Field(ge=1, le=8)] = 4
    back_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.5


class LucasKanadePoseOptions(LucasKanadeOptions):
    """The same for `corners` of the first image, and how the pose is found from them.

    `samples` of five matches are tried; a match within `threshold_px` of its line supports one.
    `fov_deg` is the horizontal field of view of images that come without intrinsics.
    """

    corners: Annotated[int, Field(ge=8, le=5000)] = 200
    samples: Annotated[int, Field(ge=1, le=10_000)] = 100
    threshold_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    fov_deg: Annotated[float, Field(gt=0, lt=180)] = 60.0


class LucasKanadeMatches:
    """Follows exactly the points asked for, by sparse optical flow, and drops the lost ones."""

    task = "keypoint_matching"

    def __init__(self, options: LucasKanadeOptions) -> None:
        self._options = options

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[KeypointCorrespondencePrediction]:
        """The points found again in each second image."""
        return [self._match(sample) for sample in batch]

    def _match(self, sample: Sample) -> KeypointCorrespondencePrediction:
        if not isinstance(sample.query, KeypointQuery):
            raise ModelError(f"sample {sample.id}: points to follow were expected as query")
        matches = follow(*pair_images(sample), sample.query.points0, self._options)
        return KeypointCorrespondencePrediction(*matches)


class LucasKanadePose:
    """Follows corners into the second image and fits an essential matrix to them."""

    task = "relative_camera_pose"

    def __init__(self, options: LucasKanadePoseOptions) -> None:
        self._options = options

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[RelativePosePrediction]:
        """The pose of each second camera up to scale, or none."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> RelativePosePrediction:
        options = self._options
        matches = follow(*pair_images(sample), None, options)
        robustness = Robustness(samples=options.samples, threshold_px=options.threshold_px)
        return estimate_pose(matches, self._cameras(sample), robustness)

    def _cameras(self, sample: Sample) -> tuple[Floats, Floats]:
        known = sample.intrinsics, sample.query.intrinsics_b
        first, second = (
            assumed_camera(image, self._options.fov_deg) if camera is None else camera
            for camera, image in zip(known, pair_images(sample), strict=True)
        )
        return first, second


def follow(
    rgb_a: NDArray[np.uint8],
    rgb_b: NDArray[np.uint8],
    points: Floats | None,
    options: LucasKanadeOptions,
) -> tuple[Floats, Floats]:
    """Points (n, 2) of the first image and where they are in the second; lost ones are left out.

    Without points, the corners of the first image.
    """
    tracker = Tracker(options.radius, options.levels)
    first, second = (build_pyramid(image, options.levels) for image in (rgb_a, rgb_b))
    depth = min(len(first.levels), len(second.levels))
    first, second = first.cut(depth), second.cut(depth)
    if points is None:
        count = options.corners if isinstance(options, LucasKanadePoseOptions) else 0
        points = find_corners(first.levels[0], count)
    moved, found = track(first, second, points, tracker)
    back, found_back = track(second, first, moved, tracker)
    kept = found & found_back & (np.linalg.norm(back - points, axis=1) <= options.back_px)
    return points[kept], moved[kept]


def load_matches(options: LucasKanadeOptions, runtime: Runtime) -> LucasKanadeMatches:
    """The matcher, on the CPU."""
    return LucasKanadeMatches(options)


def load_pose(options: LucasKanadePoseOptions, runtime: Runtime) -> LucasKanadePose:
    """The pose estimator, on the CPU."""
    return LucasKanadePose(options)
