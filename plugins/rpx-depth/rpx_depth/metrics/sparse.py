"""Depth errors at points, by the corrected and the published rule for points without an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.errors import MetricError
from rpx_depth.metrics.standard import standard_outputs, standard_values
from rpx_depth.pixel_errors import Count, DepthSums, Total, is_depth, measure_errors
from rpx_depth.point_matching import matched_depths, nearest_depths
from rpx_depth.types import SparseDepthGroundTruth, SparseDepthPrediction


class SparseDepthErrors:
    """The standard depth metrics at the points of one image, as `DepthErrors` over its pixels.

    Points are (N, 2) pixels x, y, depths (N,) metres; formulas, units, ranges and directions are
    those of `DepthErrors`. Depths predicted at the query's points answer them one by one. Of other
    predicted points each answers the query point nearest to it, and a point takes the nearest of
    those within 2 px. Over the points with a true depth whose answer is finite and positive.
    Undefined without truth; without answers only coverage and delta1_of_truth are defined (0).
    Raises MetricError where a sum overflows float64. `sample` averages images, `pooled` all points.
    Source: Eigen, Puhrsch and Fergus 2014; the radius is that of the RPX benchmark toolkit.

    Traps: as for `DepthErrors`, abstaining improves every error but coverage and delta1_of_truth.
    A predicted point beside a depth edge may answer from the other surface: predict at the
    query's points.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = DepthSums
    outputs: Mapping[str, Output] = MappingProxyType(standard_outputs("points"))

    def measure(
        self, sample: Sample, truth: SparseDepthGroundTruth, prediction: SparseDepthPrediction
    ) -> DepthSums | Undefined:
        """Sums over the points of one image, or Undefined when none has a true depth."""
        depths = matched_depths(truth.coordinates, prediction)
        sums = measure_errors(depths, truth.depths)
        return sums if sums.truth_pixels else Undefined("no point has a true depth")

    def result(self, state: DepthSums) -> ResultMap:
        """The outputs of one image, or of the pooled points of many."""
        return standard_values(state)


@dataclass(frozen=True)
class PointSums:
    """`relative` Σ|v-g|/g and `squared` Σ(v-g)² (m²) over points; adding pools images."""

    points: Count
    relative: Total
    squared: Total


class PublishedSparseDepthErrors:
    """The published sparse depth errors: a point without an answer counts as predicted 0 m away.

    sparse_absrel mean |v-g|/g · sparse_rmse √mean (v-g)² (m): over the points, (N, 2) pixels x, y,
    with a true depth g in metres, (N,), v the depth of the nearest predicted point within 2 px,
    else 0. 0 is perfect, no upper end, lower is better; predicting nothing gives 1 and the root
    mean square of the truth. Undefined, where the published function returns 0, without truth.
    Raises MetricError where a sum overflows float64. `sample` averages images, `pooled` all points.
    Source: the RPX benchmark toolkit, 2026.

    Traps: a missing answer costs exactly 1 in sparse_absrel, less than an answer of more than
    twice the depth. The published code adds the true depth in metres to the relative errors when
    nothing at all is predicted; here that is 1 per point, as for any other point. A predicted
    depth that is not finite counts as 0 too.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = PointSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "sparse_absrel": Output(
                better="lower", best=0.0, summary="mean of |v - g| / g, v = 0 without an answer"
            ),
            "sparse_rmse": Output(
                better="lower",
                unit="m",
                best=0.0,
                summary="root of the mean of (v - g)², v = 0 without an answer",
            ),
        }
    )

    def measure(
        self, sample: Sample, truth: SparseDepthGroundTruth, prediction: SparseDepthPrediction
    ) -> PointSums | Undefined:
        """Sums over the points of one image, or Undefined when none has a true depth."""
        depths = nearest_depths(truth.coordinates, prediction)
        known = is_depth(truth.depths)
        if not known.any():
            return Undefined("no point has a true depth")
        values, true = np.nan_to_num(depths[known], posinf=0, neginf=0), truth.depths[known]
        with np.errstate(over="ignore"):
            difference = np.abs(values - true)
            sums = PointSums(
                points=true.size,
                relative=float((difference / true).sum()),
                squared=float((difference * difference).sum()),
            )
        if not (math.isfinite(sums.relative) and math.isfinite(sums.squared)):
            raise MetricError(
                "depth errors overflow float64: a predicted or true depth is astronomically "
                "large or small",
                hint="depths are metres; clamp predictions to the protocol's range",
            )
        return sums

    def result(self, state: PointSums) -> ResultMap:
        """The outputs of one image, or of the pooled points of many."""
        points = int(state.points)
        return {
            "sparse_absrel": float(state.relative) / points,
            "sparse_rmse": math.sqrt(float(state.squared) / points),
        }
