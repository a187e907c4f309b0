"""Multi-scale structural similarity of the synthesised view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Aggregate, Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Sum
from rpx_nvs.colours import LEVELS, to_levels
from rpx_nvs.regions import why_not_whole
from rpx_nvs.scales import SMALLEST, multi_scale_ssim
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction

_PER_IMAGE: tuple[Aggregate, ...] = ("sample", "sample_median", "group")


@dataclass(frozen=True)
class ImageSums:
    """Images and their summed MS-SSIM by either convention; adding pools images."""

    images: Sum
    inside: Sum
    mirrored: Sum


def _similarity(summary: str) -> Output:
    return Output(better="higher", best=1.0, worst=0.0, aggregates=_PER_IMAGE, summary=summary)


class MultiScaleSsim:
    """MS-SSIM: contrast and structure at five scales, luminance at the coarsest.

    The formula is in `rpx_nvs.scales`, with L = 255 and the Gaussian window of SSIM, over images
    (H, W, 3) in uint8, or floats from 0 to 1 taken times 255. ms_ssim averages the windows inside
    the image at every scale, as the paper does; ms_ssim_mirrored mirrors the coarsest scale at its
    border, as torchmetrics does, and differs by less than 0.001 on ordinary images. 0 to 1, higher
    is better, averaged over images. Undefined below 176x176 pixels, and where a mask leaves pixels
    out: coarse pixels mix both sides of it. Raises MetricError for images of unequal shapes.
    Source: Wang, Simoncelli and Bovik 2003.

    Trap: implementations also differ in whether channels are averaged before the product, as here,
    or after it, and in what they do with an odd row.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = ImageSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "ms_ssim": _similarity("SSIM over five scales, windows inside the image"),
            "ms_ssim_mirrored": _similarity("the same, coarsest scale mirrored at its border"),
        }
    )

    def measure(
        self,
        sample: Sample,
        truth: NovelViewSynthesisGroundTruth,
        prediction: NovelViewSynthesisPrediction,
    ) -> ImageSums | Undefined:
        """MS-SSIM of one image, or why it has none."""
        undefined = why_not_whole(truth, SMALLEST)
        if undefined is not None:
            return undefined
        found = multi_scale_ssim(to_levels(prediction.rgb), truth.rgb, LEVELS)
        return ImageSums(1, found.inside, found.mirrored)

    def result(self, state: ImageSums) -> ResultMap:
        """MS-SSIM of one image, or the mean over many."""
        images = int(state.images)
        return {
            "ms_ssim": float(state.inside) / images,
            "ms_ssim_mirrored": float(state.mirrored) / images,
        }
