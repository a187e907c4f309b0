"""Evaluating at another resolution: images, points, intrinsics and homography change together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_pose.homography import rescale_homography, transfer
from rpx_pose.types import KeypointCorrespondenceGroundTruth, PairQuery

Floats = NDArray[np.float64]
Image = NDArray[np.uint8]


def resize_pair(sample: Sample, shorter_side: int) -> Sample:
    """The pair with both images scaled until their shorter side has so many pixels.

    Each image has its own factors, of its width and of its height; errors in pixels are pixels of
    the resized images.
    """
    query, truth = sample.query, sample.ground_truth
    if sample.rgb is None or not isinstance(query, PairQuery):
        return sample
    rgb, scaling0 = _resize(sample.rgb, shorter_side)
    rgb_b, scaling1 = _resize(query.rgb_b, shorter_side)
    return replace(
        sample,
        rgb=rgb,
        intrinsics=_scale(scaling0, sample.intrinsics),
        query=PairQuery(rgb_b, _scale(scaling1, query.intrinsics_b)),
        ground_truth=resize_truth(truth, scaling0, scaling1),
    )


def resize_truth(
    truth: KeypointCorrespondenceGroundTruth, scaling0: Floats, scaling1: Floats
) -> KeypointCorrespondenceGroundTruth:
    """The same matches between images that were scaled by these 3x3 matrices."""
    homography = truth.homography
    return replace(
        truth,
        points0=transfer(scaling0, truth.points0),
        points1=transfer(scaling1, truth.points1),
        homography=None
        if homography is None
        else rescale_homography(homography, scaling0, scaling1),
    )


def _resize(image: Image, shorter_side: int) -> tuple[Image, Floats]:
    from PIL import Image as Pillow

    height, width = image.shape[:2]
    factor = shorter_side / min(height, width)
    size = max(round(width * factor), 1), max(round(height * factor), 1)
    resized = Pillow.fromarray(image).resize(size, Pillow.Resampling.BILINEAR)
    # Rounded sizes make the factors of the two axes differ. Pixel centres are at integers.
    across, down = size[0] / width, size[1] / height
    scaling = np.array([[across, 0, (across - 1) / 2], [0, down, (down - 1) / 2], [0, 0, 1]])
    return np.array(resized), scaling


def _scale(scaling: Floats, intrinsics: Any) -> Any:
    return None if intrinsics is None else scaling @ intrinsics
