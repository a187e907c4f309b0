"""Depth errors by range: near, mid, far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.errors import ConfigError
from rpx_core.state import Combine
from rpx_depth.metrics.standard import NO_ANSWER, explain, standard_outputs
from rpx_depth.pixel_errors import DepthSums, Mask, measure_errors, standard_set
from rpx_depth.range_bins import ROBOTICS_BINS, RangeBins, bin_masks, square_root_bins
from rpx_depth.types import DepthGroundTruth, DepthPrediction

REPORTED = ("absrel", "mae", "rmse", "silog", "delta1", "coverage")
"""The metrics of the standard set that each range gets."""

_COUNTS = tuple(field.name for field in fields(DepthSums) if isinstance(field.default, int))
_TOTALS = tuple(field.name for field in fields(DepthSums) if field.name not in _COUNTS)

RangeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class DepthBinsOptions(BaseModel):
    """The ranges. `fixed` lists edges in metres and a name for each range between them.

    `sqrt` divides `edges`, then just the two ends, into near, mid and far of equal width in
    √depth. A range behind which there are fewer than `min_pixels` truth pixels has no value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["fixed", "sqrt"] = "fixed"
    edges: tuple[float, ...] = ROBOTICS_BINS.edges
    names: tuple[RangeName, ...] = ROBOTICS_BINS.names
    min_pixels: Annotated[int, Field(ge=1)] = ROBOTICS_BINS.min_pixels


@dataclass(frozen=True, eq=False)
class BinSums:
    """`DepthSums` of every range: a row per range, a column per field in the order of `DepthSums`.

    Whole numbers and real ones are kept apart, so that counts stay exact.
    """

    counts: Annotated[NDArray[np.int64], Combine.SUM]
    totals: Annotated[NDArray[np.float64], Combine.SUM]


class DepthBins:
    """Depth errors over the truth pixels of each range of depth.

    `<metric>_<range>` for the metrics of `REPORTED`, defined as in `DepthErrors`, and
    `truth_pixels_<range>`, the count behind them. A range holds its near edge, the last its far
    edge too; the truth alone decides where a pixel belongs. (H, W) maps in metres.

    A range with fewer than `min_pixels` truth pixels, in the image or in all pooled images, is
    undefined, never 0; where nothing is answered only coverage is defined. Undefined altogether
    without truth in any range. Units, ranges, directions and what raises are those of
    `DepthErrors`. Source: the ranges of RPX's temporal depth metrics (0.3, 1, 2.5 and 5 m, 100
    pixels); `sqrt` after euler-eval's benchmark ranges.

    Trap: the mean over images gives a range's few pixels in one image the weight of a full one;
    `pooled` does not.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = BinSums

    def __init__(self, options: DepthBinsOptions) -> None:
        self._bins = _read_bins(options)
        self._few = Undefined(f"the range has fewer than {options.min_pixels} pixels of truth")
        self.outputs: Mapping[str, Output] = MappingProxyType(_outputs(self._bins))

    def measure(
        self, sample: Sample, truth: DepthGroundTruth, prediction: DepthPrediction
    ) -> BinSums | Undefined:
        """Sums of each range in one image, or Undefined without truth in any."""
        masks = bin_masks(truth.depth_map, self._bins)
        sums = [_measure_range(truth, prediction, masks[name]) for name in self._bins.names]
        if not any(one.truth_pixels for one in sums):
            return Undefined("no true depth lies in any range")
        return _pack(sums)

    def result(self, state: BinSums) -> ResultMap:
        """The outputs of one image, or of the pooled pixels of many."""
        values: dict[str, float | Undefined | None] = {}
        for name, sums in zip(self._bins.names, _unpack(state), strict=True):
            defined = self._bins.is_defined(sums.truth_pixels)
            why = NO_ANSWER if defined else self._few
            standard = explain(standard_set(sums if defined else DepthSums()), why)
            values |= {f"{metric}_{name}": standard[metric] for metric in REPORTED}
            values[f"truth_pixels_{name}"] = sums.truth_pixels
        return values


def _read_bins(options: DepthBinsOptions) -> RangeBins:
    if options.kind == "fixed":
        return RangeBins(options.names, options.edges, options.min_pixels)
    if len(options.edges) != 2 or options.names != ROBOTICS_BINS.names:
        raise ConfigError(
            f"ranges of kind sqrt are near, mid and far between two edges, got edges "
            f"{options.edges} and names {options.names}",
            hint="for example edges = [0.3, 5.0], without names",
        )
    bins = square_root_bins(*options.edges)
    return RangeBins(bins.names, bins.edges, options.min_pixels)


def _outputs(bins: RangeBins) -> dict[str, Output]:
    standard = standard_outputs("pixels")
    outputs = {}
    for name, (near, far) in bins.bounds().items():
        place = f"{near:.4g} to {far:.4g} m"
        for metric in REPORTED:
            output = standard[metric]
            outputs[f"{metric}_{name}"] = replace(output, summary=f"{output.summary}, {place}")
        outputs[f"truth_pixels_{name}"] = Output(
            better=None,
            unit="px",
            aggregates=("sample", "pooled"),
            summary=f"truth pixels, {place}",
        )
    return outputs


def _measure_range(truth: DepthGroundTruth, prediction: DepthPrediction, mask: Mask) -> DepthSums:
    pixels = np.flatnonzero(mask)
    return measure_errors(prediction.depth_map.take(pixels), truth.depth_map.take(pixels))


def _pack(sums: Sequence[DepthSums]) -> BinSums:
    return BinSums(
        counts=np.array([[getattr(one, name) for name in _COUNTS] for one in sums], np.int64),
        totals=np.array([[getattr(one, name) for name in _TOTALS] for one in sums], np.float64),
    )


def _unpack(state: BinSums) -> Iterator[DepthSums]:
    for counts, totals in zip(state.counts.tolist(), state.totals.tolist(), strict=True):
        yield DepthSums(**dict(zip((*_COUNTS, *_TOTALS), (*counts, *totals), strict=True)))
