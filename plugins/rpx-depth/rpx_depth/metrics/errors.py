"""The standard depth errors of an image, from sums that pool."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_depth.pixel_errors import DepthSums, measure_errors, standard_set
from rpx_depth.types import DepthGroundTruth, DepthPrediction

PLAUSIBLE_RATIO = (0.1, 10.0)
"""Between millimetres and metres lies a factor 1000, between 1/1000 and 1/256 of a unit 3.9."""


def _error(summary: str, unit: str = "") -> Output:
    return Output(better="lower", unit=unit, best=0.0, summary=summary)


def _share(summary: str) -> Output:
    return Output(better="higher", best=1.0, worst=0.0, summary=summary)


class DepthErrors:
    """The standard depth metrics of one image: p predicted, g true depth, d = ln p - ln g.

    absrel mean |p-g|/g · sqrel mean (p-g)²/g (m) · mae mean |p-g| (m) · rmse √mean (p-g)² (m) ·
    rmse_log √mean d² · log10 mean |log10 p - log10 g| · silog √(mean d² - (mean d)²), a fraction,
    and silog100 the same in percent · irmse √mean (1/p-1/g)² (1/m): 0 is perfect, no upper end.
    delta1..3 share of pixels with max(p/g, g/p) < 1.25, 1.25², 1.25³ (strictly) · coverage share of
    truth pixels that are answered · delta1_of_truth delta1 with unanswered pixels as misses: 0 to
    1, higher is better. scale_ratio exp(mean d), 1 where nothing is biased.

    Over the truth pixels of (H, W) maps in metres that the prediction answers with a finite,
    positive depth. Undefined without truth; without answers only coverage and delta1_of_truth are
    defined (0). `sample` averages images, `pooled` all pixels; published tables mostly average
    images. Source: Eigen, Puhrsch and Fergus 2014; silog as in the KITTI depth benchmark.

    Traps: abstaining on hard pixels improves every error, so read coverage beside it, or
    delta1_of_truth. Three quantities are called SILog elsewhere: the variance, its root, and 100
    times the root. scale_ratio is for finding wrong units, and means nothing after alignment.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = DepthSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "absrel": _error("mean of |p - g| / g"),
            "sqrel": _error("mean of (p - g)² / g", "m"),
            "mae": _error("mean of |p - g|", "m"),
            "rmse": _error("root of the mean of (p - g)²", "m"),
            "rmse_log": _error("root of the mean of (ln p - ln g)²"),
            "log10": _error("mean of |log10 p - log10 g|"),
            "silog": _error("standard deviation of ln p - ln g, a fraction"),
            "silog100": _error("standard deviation of ln p - ln g, in percent", "%"),
            "irmse": _error("root of the mean of (1/p - 1/g)²", "1/m"),
            "delta1": _share("answered pixels within a factor 1.25"),
            "delta2": _share("answered pixels within a factor 1.25²"),
            "delta3": _share("answered pixels within a factor 1.25³"),
            "delta1_of_truth": _share("truth pixels answered within a factor 1.25"),
            "coverage": _share("truth pixels that are answered"),
            "scale_ratio": Output(
                better=None,
                best=1.0,
                plausible=PLAUSIBLE_RATIO,
                summary="geometric mean of p / g; far from 1 means a wrong unit or scale",
            ),
        }
    )

    def measure(
        self, sample: Sample, truth: DepthGroundTruth, prediction: DepthPrediction
    ) -> DepthSums | None:
        """Sums over the pixels of one image, or None when it has no truth."""
        sums = measure_errors(prediction.depth_map, truth.depth_map)
        return sums if sums.truth_pixels else None

    def result(self, state: DepthSums) -> ResultMap:
        """The outputs of one image, or of the pooled pixels of many."""
        pixels = int(state.pixels)
        ratio = math.exp(float(state.log_signed) / pixels) if pixels else None
        return {**standard_set(state), "scale_ratio": ratio}
