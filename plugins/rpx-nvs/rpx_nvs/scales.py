"""Multi-scale structural similarity (MS-SSIM), Wang, Simoncelli and Bovik 2003.

The images are halved four times by 2x2 means, an odd last row or column left out. With cs the mean
contrast-structure term of a scale, s the mean SSIM of the coarsest, and w the five weights,

    ms_ssim = max(cs1, 0)^w1 · ... · max(cs4, 0)^w4 · max(s, 0)^w5

Means run over the windows inside the image and over channels, before the powers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_nvs.structural_similarity import WANG, check_images, similarity_strips, ssim

WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Exponents from the finest scale to the coarsest."""
SMALLEST = len(WANG.taps) * 2 ** (len(WEIGHTS) - 1)
"""Pixels: the coarsest scale of a smaller image does not hold the window."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MultiScaleSimilarity:
    """MS-SSIM, 0 to 1, by both conventions for the border of the coarsest scale.

    `inside` averages windows inside the image there too; `mirrored` has a window at every pixel
    and mirrors the image at its border (without repeating the edge), as torchmetrics does.
    """

    inside: float
    mirrored: float


def multi_scale_ssim(
    first: NDArray[Any], second: NDArray[Any], data_range: float
) -> MultiScaleSimilarity:
    """The similarity of two images (H, W) or (H, W, C); 1 for equal ones.

    Raises MetricError for images of different shapes, or smaller than 176x176 pixels.
    """
    check_images(first, second, WANG)
    if min(first.shape[:2]) < SMALLEST:
        raise MetricError(
            f"an image of {first.shape[0]}x{first.shape[1]} pixels is too small for MS-SSIM",
            hint=f"its {len(WEIGHTS)} scales need {SMALLEST}x{SMALLEST} pixels",
        )
    # Planes of their own: halving and filtering want neighbours side by side.
    one, two = (_channels_first(image) for image in (first, second))
    product = 1.0
    for weight in WEIGHTS[:-1]:
        product *= _power(_mean_contrast(one, two, data_range), weight)
        one, two = _halve(one), _halve(two)
    reach = WANG.radius
    rim = ((0, 0), (reach, reach), (reach, reach))
    inside = _mean_ssim(one, two, data_range)
    one, two = (np.pad(images, rim, mode="reflect") for images in (one, two))
    mirrored = _mean_ssim(one, two, data_range)
    return MultiScaleSimilarity(
        inside=product * _power(inside, WEIGHTS[-1]),
        mirrored=product * _power(mirrored, WEIGHTS[-1]),
    )


def _power(term: float, weight: float) -> float:
    return math.pow(max(term, 0.0), weight)


def _channels_first(image: NDArray[Any]) -> Floats:
    planes = image[None] if image.ndim == 2 else np.moveaxis(image, 2, 0)
    return np.array(planes, dtype=np.float64, order="C")


def _mean_contrast(first: Floats, second: Floats, data_range: float) -> float:
    """Mean contrast-structure term of images (C, H, W)."""
    total = sum(
        float(strip.contrast.sum())
        for planes in zip(first, second, strict=True)
        for strip in similarity_strips(*planes, WANG, data_range)
    )
    rim = 2 * WANG.radius
    channels, height, width = first.shape
    return float(total / (channels * (height - rim) * (width - rim)))


def _mean_ssim(first: Floats, second: Floats, data_range: float) -> float:
    values = [ssim(*planes, WANG, data_range) for planes in zip(first, second, strict=True)]
    return sum(values) / len(values)


def _halve(images: Floats) -> Floats:
    height, width = images.shape[1] // 2 * 2, images.shape[2] // 2 * 2
    even = images[:, :height, :width]
    rows = even[:, ::2] + even[:, 1::2]
    halved: Floats = (rows[:, :, ::2] + rows[:, :, 1::2]) / 4
    return halved
