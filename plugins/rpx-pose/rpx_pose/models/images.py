"""What the models ask of a pair: its two images, and the intrinsics of both cameras."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError
from rpx_pose.types import PairQuery


def pair_images(sample: Sample) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Both images; raises ModelError where the sample is no pair."""
    if sample.rgb is None or not isinstance(sample.query, PairQuery):
        raise ModelError(f"sample {sample.id}: a pair of images was expected")
    return sample.rgb, sample.query.rgb_b


def assumed_camera(image: NDArray[np.uint8], fov_deg: float) -> NDArray[np.float64]:
    """The 3x3 intrinsics of a camera with a horizontal field of view and a centred axis."""
    height, width = image.shape[:2]
    focal = width / 2 / np.tan(np.radians(fov_deg) / 2)
    return np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])


def pair_cameras(sample: Sample) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both 3x3 intrinsics; raises ModelError where one is unknown."""
    second = sample.query.intrinsics_b if isinstance(sample.query, PairQuery) else None
    if sample.intrinsics is None or second is None:
        raise ModelError(
            f"sample {sample.id}: a pose from matches needs the intrinsics of both cameras",
            hint="list `intrinsics`, and `intrinsics_b` where the images differ in size",
        )
    return sample.intrinsics, second
