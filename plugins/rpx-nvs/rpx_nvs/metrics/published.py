"""The published metrics of this task, under names that say what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.state import Sum
from rpx_nvs.global_similarity import global_ssim, published_psnr
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction


@dataclass(frozen=True)
class PublishedSums:
    """Images and their summed published values; adding pools images."""

    images: Sum
    psnr: Sum
    ssim: Sum


class Published:
    """What the RPX benchmark toolkit calls psnr and ssim, for comparing with its numbers.

    psnr_equal100 = 10·log10(255² / mean squared error) in dB, 100 where the images are equal; from
    0 up, without an end, so there is no best. ssim_global = (2·mx·my + C1)·(2·c + C2) / ((mx² + my²
    + C1)·(vx + vy + C2)), C1 = 2.55², C2 = 7.65², with mean, population variance and covariance
    over all pixels and channels at once; -1 to 1, 1 for equal images. Both: higher is better.

    Over whole images (H, W, 3), uint8 or floats from 0 to 1 taken times 255; masks are ignored.
    Never undefined, raises nothing of its own: the task validates shapes. `sample` averages images,
    and nothing is pooled. Source: the RPX benchmark toolkit, 2026.

    Traps: equal images are below nearly equal ones (a single level off in 640x480 is 108 dB).
    ssim_global sees no structure, and is far above SSIM (0.957 where SSIM is 0.743).
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = PublishedSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "psnr_equal100": Output(
                better="higher", unit="dB",
                aggregates=("sample", "sample_median", "group"),
                summary="PSNR with peak 255, 100 dB where images are equal",
            ),
            "ssim_global": Output(
                better="higher", best=1.0, worst=-1.0,
                aggregates=("sample", "sample_median", "group"),
                summary="SSIM's formula over one window, the whole image",
            ),
        }
    )  # fmt: skip

    def measure(
        self,
        sample: Sample,
        truth: NovelViewSynthesisGroundTruth,
        prediction: NovelViewSynthesisPrediction,
    ) -> PublishedSums:
        """Both values of one image."""
        images = (prediction.rgb, truth.rgb)
        return PublishedSums(1, published_psnr(*images), global_ssim(*images))

    def result(self, state: PublishedSums) -> ResultMap:
        """The values of one image, or the means over many."""
        images = int(state.images)
        return {
            "psnr_equal100": float(state.psnr) / images,
            "ssim_global": float(state.ssim) / images,
        }
