"""Pose AUC and mAA over the pairs of a dataset, by every definition in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Cat, Sum
from rpx_pose.auc import auc_exact, auc_grid, auc_trapezoid, mean_average_accuracy
from rpx_pose.metrics.pose_errors import NO_DIRECTION, PoseErrorOptions, measure_pair
from rpx_pose.types import RelativePoseGroundTruth, RelativePosePrediction

THRESHOLDS = (5, 10, 20)
DEFINITIONS = MappingProxyType({"trapezoid": auc_trapezoid, "exact": auc_exact, "grid": auc_grid})
_SUMMARIES = {
    "trapezoid": "straight lines between sorted errors (SuperGlue, LoFTR)",
    "exact": "mean of max(0, 1 - error / threshold)",
    "grid": "trapezoid rule on 100 places (RPX)",
}


@dataclass(frozen=True)
class ErrorList:
    """The errors (n,) in degrees, infinite where there is no pose, and how many those are."""

    errors_deg: Cat
    failed: Sum


def _share(summary: str) -> Output:
    return Output(
        better="higher", best=1.0, worst=0.0, headline="pooled",
        aggregates=("pooled", "group"), summary=summary,
    )  # fmt: skip


class PoseAuc:
    """Area under the recall curve of max(rotation, direction) error, up to 5, 10 and 20 degrees.

    auc{5,10,20}_{trapezoid,exact,grid} and maa10 as `rpx_pose.auc` defines them: 0 to 1, higher is
    better. Over all pairs whose truth moves at least `shortest_m`; the others are undefined.
    Rotations are 3x3, translations (3,). A pair without a pose has an infinite error and stays in
    the denominator, if its truth moves; no_pose counts these. The published `auc_5deg`, ... are
    `auc5_grid`, ... Source: Sarlin et al. 2020 (SuperGlue), Jin et al. 2021 (mAA), the RPX
    benchmark toolkit.

    Traps: the definitions differ by several points, so compare equal ones. An AUC of a part of
    the pairs is not part of the AUC: the headline pools, `group` averages scenes.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = ErrorList
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            **{
                f"auc{threshold}_{name}": _share(f"pose AUC at {threshold}°: {summary}")
                for name, summary in _SUMMARIES.items()
                for threshold in THRESHOLDS
            },
            "maa10": _share("mean share of pairs within 1°, 2°, ... 10°"),
            "no_pose": Output(
                better="lower", unit="pairs", best=0.0, headline="pooled", aggregates=("pooled",),
                summary="pairs without a pose, which count as failures",
            ),
        }
    )  # fmt: skip

    def __init__(self, options: PoseErrorOptions) -> None:
        self._options = options

    def measure(
        self, sample: Sample, truth: RelativePoseGroundTruth, prediction: RelativePosePrediction
    ) -> ErrorList | Undefined:
        """The error of one pair, undefined where the truth has no direction."""
        errors = measure_pair(truth, prediction, self._options.shortest_m)
        if not errors.has_direction[0]:
            return NO_DIRECTION
        if prediction.rotation is None:
            return ErrorList(np.array([np.inf]), 1)
        return ErrorList(errors.max_deg(self._options.direction), 0)

    def result(self, state: ErrorList) -> ResultMap:
        """Every area of the errors collected."""
        errors = np.asarray(state.errors_deg)
        areas = {
            f"auc{threshold}_{name}": area(errors, threshold)
            for name, area in DEFINITIONS.items()
            for threshold in THRESHOLDS
        }
        return {**areas, "maa10": mean_average_accuracy(errors, 10), "no_pose": int(state.failed)}
