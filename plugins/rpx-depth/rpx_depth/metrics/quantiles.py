"""Medians and 90th percentiles of pixel errors, over any number of images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Combine
from rpx_depth.histogram import ErrorBins, count_errors, quantile
from rpx_depth.pixel_errors import pixel_errors
from rpx_depth.types import DepthGroundTruth, DepthPrediction

BINS = ErrorBins()
QUANTILES: Mapping[str, float] = MappingProxyType({"median": 0.5, "p90": 0.9})

_Counts = Annotated[NDArray[np.uint32], Combine.SUM]


@dataclass(frozen=True, eq=False)
class ErrorCounts:
    """A histogram per kind of error, in the bins of `BINS`.

    32 bits hold the pixels of any one image in half the space; folds add in 64.
    """

    relative: _Counts
    absolute: _Counts
    log: _Counts


def _outputs() -> dict[str, Output]:
    kinds = {"relative": ("", "|p - g| / g"), "absolute": ("m", "|p - g|"), "log": ("", "|ln p/g|")}
    return {
        f"{kind}_{name}": Output(
            better="lower",
            unit=unit,
            best=0.0,
            headline="pooled",
            summary=f"{q:.0%} quantile of {error} over pixels, from a histogram",
        )
        for kind, (unit, error) in kinds.items()
        for name, q in QUANTILES.items()
    }


class DepthQuantiles:
    """Median and 90th percentile of the pixel errors |p-g|/g, |p-g| (m) and |ln p - ln g|.

    Over the answered truth pixels of (H, W) maps in metres; 0 is perfect, lower is better. From a
    fixed histogram, so that pixels of all images pool: a value is within 0.8 % (1/128) of the
    exact quantile, plus 1.2e-4 (2^-13) where errors below that take part. Undefined without
    answers, and where the quantile exceeds 32. Linear between order statistics, as numpy has it
    (Hyndman and Fan 1996, type 7). Raises MetricError for maps of unequal shapes.

    Trap: the median over pooled pixels is not the median over images of their medians; the
    headline is the first, `sample_median` the second.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = ErrorCounts
    outputs: Mapping[str, Output] = MappingProxyType(_outputs())

    def measure(
        self, sample: Sample, truth: DepthGroundTruth, prediction: DepthPrediction
    ) -> ErrorCounts | Undefined:
        """Histograms of one image's errors, or Undefined when no truth pixel is answered."""
        errors = pixel_errors(prediction.depth_map, truth.depth_map)
        if not errors.absolute.size:
            return Undefined("no pixel with a true depth is answered")
        return ErrorCounts(
            relative=_count(errors.relative),
            absolute=_count(errors.absolute),
            log=_count(np.abs(errors.log)),
        )

    def result(self, state: ErrorCounts) -> ResultMap:
        """The quantiles of one image, or of the pooled pixels of many."""
        return {
            f"{kind}_{name}": quantile(counts, q, BINS)
            for kind, counts in vars(state).items()
            for name, q in QUANTILES.items()
        }


def _count(errors: NDArray[np.float64]) -> NDArray[np.uint32]:
    return count_errors(errors, BINS).astype(np.uint32)
