"""Peak signal-to-noise ratio of the synthesised view, and of what the sources see or do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Sum
from rpx_nvs.colours import LEVELS
from rpx_nvs.regions import ENDINGS, regions_of, why_no_part
from rpx_nvs.squared_error import psnr, squared_errors, squared_errors_8bit
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction


@dataclass(frozen=True)
class ErrorSums:
    """Colour values compared and their summed squared error: whole, covered, disoccluded (3,).

    Errors are in 8-bit levels, `squared_8bit` of whole images that were rounded to them first.
    `equal` counts the images without any error: whole, covered, disoccluded, rounded (4,).
    """

    images: Sum
    values: Sum
    squared: Sum
    squared_8bit: Sum
    equal: Sum


_INFINITE = (*(f"psnr{ending}" for ending in ENDINGS), "psnr_8bit")
"""Outputs in the order of `ErrorSums.equal`."""


def _decibel(summary: str) -> Output:
    return Output(better="higher", unit="dB", best=np.inf, summary=summary)


class Psnr:
    """PSNR = 10·log10(peak² / mean squared error) over pixels and channels, in dB.

    psnr (float rule): colours from 0 to 1, not rounded, peak 1. psnr_8bit (8-bit rule): both
    images rounded to 8 bits, peak 255; the same number for predictions in 8 bits. The peak is
    never taken from the pixels. psnr_covered and psnr_disoccluded split psnr by whether a source
    view sees the surface at a target pixel (`rpx_nvs.visibility`), and covered_share says how many
    of the pixels of known visibility are seen. Over the scored pixels of uint8 or [0, 1] float
    images (H, W, 3) of one size.

    Raises nothing of its own: the task validates shapes. Source: the definition of the decibel; the
    means are those of NVS papers.

    Floats that float32 cannot tell from v / 255 are the 8-bit colour v: equal colours have one
    value in either form. Higher is better; infinite for equal images, which is reported as null
    with reason `infinite` and left out of `sample` means: their number stands beside them, and a
    warning where some are, since spoiling one may raise the mean. A split is undefined where
    the record has no depth, and a region without pixels. `sample` averages decibels over images,
    as NVS papers do; `pooled` is the PSNR of the mean squared error over all pixels, which is
    lower: never compare one with the other.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = ErrorSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "psnr": _decibel("PSNR, colours from 0 to 1"),
            "psnr_8bit": _decibel("PSNR of images rounded to 8 bits"),
            "psnr_covered": _decibel("PSNR where a source view sees the surface"),
            "psnr_disoccluded": _decibel("PSNR where no source view does"),
            "covered_share": Output(
                better=None, summary="target pixels of known visibility that a source view sees"
            ),
        }
    )

    def measure(
        self,
        sample: Sample,
        truth: NovelViewSynthesisGroundTruth,
        prediction: NovelViewSynthesisPrediction,
    ) -> ErrorSums | Undefined:
        """Squared errors of one image, or Undefined where no pixel is scored."""
        regions = regions_of(truth)
        levels = squared_errors_8bit(prediction.rgb, truth.rgb)
        is_8bit = prediction.rgb.dtype == np.uint8
        parts = regions.select(levels if is_8bit else squared_errors(prediction.rgb, truth.rgb))
        if not parts[0].size:
            return Undefined("no pixel is scored")
        sizes = np.array([part.size for part in parts])
        # Whole numbers fit float64: the sum of 8-bit errors is exact in either form.
        squared = np.array([part.sum(dtype=np.float64) for part in parts])
        squared_8bit = regions.select(levels)[0].sum(dtype=np.int64)
        return ErrorSums(
            images=1,
            values=sizes * truth.rgb.shape[2],
            squared=squared,
            squared_8bit=squared_8bit,
            equal=np.append((sizes > 0) & (squared == 0), squared_8bit == 0).astype(np.int64),
        )

    def result(self, state: ErrorSums) -> ResultMap:
        """PSNR of one image, or of the pooled pixels of many."""
        whole, covered, disoccluded = (int(values) for values in np.asarray(state.values))
        known = covered + disoccluded
        missing = why_no_part(known)
        return {
            **{
                f"psnr{name}": psnr(float(squared) / int(values), LEVELS) if values else missing
                for name, values, squared in zip(ENDINGS, state.values, state.squared, strict=True)
            },
            "psnr_8bit": psnr(int(state.squared_8bit) / whole, LEVELS),
            "covered_share": covered / known if known else missing,
        }

    def doubt(self, state: ErrorSums) -> str | None:
        """Whether a mean leaves perfect images out: then a worse prediction may raise it."""
        images = int(state.images)
        left_out = [
            f"{int(count)} from {name}@sample"
            for name, count in zip(_INFINITE, np.asarray(state.equal), strict=True)
            if 0 < count < images
        ]
        if not left_out:
            return None
        return (
            f"of {images} images, perfect ones are left out of means ({', '.join(left_out)}): "
            "compare @pooled"
        )
