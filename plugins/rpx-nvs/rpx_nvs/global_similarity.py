"""The published NVS metrics: PSNR with 100 for equal images, and SSIM over one whole window."""

from __future__ import annotations

import numpy as np

from rpx_nvs.colours import LEVELS, to_levels
from rpx_nvs.squared_error import psnr
from rpx_nvs.types import Colours

EQUAL_DB = 100.0
"""Decibels that the published code gives equal images; it is no cap."""


def published_psnr(prediction: Colours, truth: Colours) -> float:
    """PSNR with peak 255 in dB; 100 for equal images, which nearly equal ones exceed."""
    first, second = (to_levels(image).astype(np.float64) for image in (prediction, truth))
    error = float(np.square(first - second).mean())
    return psnr(error, LEVELS) if error else EQUAL_DB


def global_ssim(prediction: Colours, truth: Colours) -> float:
    """SSIM's formula over all pixels and channels at once, L = 255, population variances."""
    first, second = (to_levels(image).astype(np.float64) for image in (prediction, truth))
    mean_first, mean_second = first.mean(), second.mean()
    covariance = ((first - mean_first) * (second - mean_second)).mean()
    c1, c2 = (0.01 * LEVELS) ** 2, (0.03 * LEVELS) ** 2
    luminance = (2 * mean_first * mean_second + c1) / (mean_first**2 + mean_second**2 + c1)
    return float(luminance * (2 * covariance + c2) / (first.var() + second.var() + c2))
