"""The standard depth errors of an image, from sums that pool."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_depth.metrics.standard import standard_outputs, standard_values
from rpx_depth.pixel_errors import DepthSums, measure_errors
from rpx_depth.types import DepthGroundTruth, DepthPrediction


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
    defined (0). Raises MetricError for maps of unequal shapes or of no real numbers, and where a
    sum overflows float64. `sample` averages images, `pooled` all pixels; published tables mostly
    average images. Source: Eigen, Puhrsch and Fergus 2014; silog as in the KITTI depth benchmark.

    Traps: abstaining on hard pixels improves every error, so read coverage beside it, or
    delta1_of_truth. Three quantities are called SILog elsewhere: the variance, its root, and 100
    times the root. scale_ratio is for finding wrong units, and means nothing after alignment.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = DepthSums
    outputs: Mapping[str, Output] = MappingProxyType(standard_outputs("pixels"))

    def measure(
        self, sample: Sample, truth: DepthGroundTruth, prediction: DepthPrediction
    ) -> DepthSums | Undefined:
        """Sums over the pixels of one image, or Undefined when it has no truth."""
        sums = measure_errors(prediction.depth_map, truth.depth_map)
        return sums if sums.truth_pixels else Undefined("no pixel has a true depth")

    def result(self, state: DepthSums) -> ResultMap:
        """The outputs of one image, or of the pooled pixels of many."""
        return standard_values(state)
