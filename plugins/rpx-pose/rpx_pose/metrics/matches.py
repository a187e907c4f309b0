"""How many true points are matched, how many matches are right, and how far off they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.outputs import share
from rpx_core.state import Combine, Sum
from rpx_pose.matching import GATE_PX, TrueMatches, judge_matches
from rpx_pose.types import KeypointCorrespondenceGroundTruth, KeypointCorrespondencePrediction

THRESHOLDS_PX = (1, 3, 5)
NONE_VISIBLE = Undefined("no true point is visible")
_NONE_JUDGED = Undefined("no match starts near a true point")
_NONE_MATCHED = Undefined("no true point is matched")

Counts = Annotated[NDArray[np.int64], Combine.SUM]


class MatchOptions(BaseModel):
    """`gate_px`: a match tells of true points that lie within so many pixels of its start."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gate_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] = GATE_PX


@dataclass(frozen=True)
class MatchCounts:
    """Counts over true points and matches, `recalled` and `right` one for each threshold."""

    visible: Sum
    matched: Sum
    recalled: Counts
    predictions: Sum
    judged: Sum
    right: Counts
    error_px: Sum


def _count(summary: str) -> Output:
    return Output(
        better=None, unit="matches", aggregates=("sample", "sample_median"), summary=summary
    )


class KeypointMatches:
    """Matches of two images against true correspondences, in pixels of the second image.

    Points are (n, 2) pixels x, y. A match (p0, p1) tells of a true point (g0, g1) where |p0 - g0|
    is at most `gate_px`; its error is |(p1 - p0) - (g1 - g0)|. pck_{1,3,5}px share of visible true
    points that are matched within so many pixels (≤), every match used once, nearest start first:
    the recall, for the exact points asked for PCK · precision_{1,3,5}px share of judged matches
    that are right, judged by the nearest true point; a match of a hidden point is wrong · matched
    share of visible points with any match · mean_error_px mean error of the matched · matches,
    judged_matches how many there are. Shares: 0 to 1, higher is better.

    Undefined without true points; pck and matched without visible ones, precision without judged
    matches, the mean error without matched points. No matches at all are a pck of 0. `sample`
    averages pairs of images, `pooled` points. Source: PCK of Yang and Ramanan 2013, made
    one to one.

    Traps: a detector's own points rarely lie at the true ones, so its pck is low while its
    precision is high; read both. Precision alone rewards answering little: `matched` says so.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = MatchCounts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            **{
                f"pck_{limit}px": share(
                    f"visible points matched within {limit} px", headline="sample"
                )
                for limit in THRESHOLDS_PX
            },
            **{
                f"precision_{limit}px": share(
                    f"judged matches within {limit} px", headline="sample"
                )
                for limit in THRESHOLDS_PX
            },
            "matched": share("visible points near which a match starts", headline="sample"),
            "mean_error_px": Output(
                better="lower", unit="px", best=0.0, summary="mean error of matched points"
            ),
            "matches": _count("predicted matches"),
            "judged_matches": _count("matches that start near a true point"),
        }
    )

    def __init__(self, options: MatchOptions) -> None:
        self._gate = options.gate_px

    def measure(
        self,
        sample: Sample,
        truth: KeypointCorrespondenceGroundTruth,
        prediction: KeypointCorrespondencePrediction,
    ) -> MatchCounts | Undefined:
        """Counts over one pair of images, undefined without true points."""
        if not len(truth.points0):
            return Undefined("there are no true points")
        true = TrueMatches(truth.points0, truth.points1, truth.visible())
        found = judge_matches(true, prediction.points0, prediction.points1, gate=self._gate)
        matched = found.recalled[np.isfinite(found.recalled)]
        judged = found.errors[found.is_judged]
        return MatchCounts(
            visible=found.recalled.size,
            matched=matched.size,
            recalled=_within(found.recalled),
            predictions=found.errors.size,
            judged=judged.size,
            right=_within(judged),
            error_px=float(np.sort(matched).sum()),
        )

    def result(self, state: MatchCounts) -> ResultMap:
        """The outputs of one pair of images, or of the pooled points of many."""
        pck = {f"pck_{limit}px": state.recalled[i] for i, limit in enumerate(THRESHOLDS_PX)}
        right = {f"precision_{limit}px": state.right[i] for i, limit in enumerate(THRESHOLDS_PX)}
        return {
            **{name: _ratio(count, state.visible, NONE_VISIBLE) for name, count in pck.items()},
            **{name: _ratio(count, state.judged, _NONE_JUDGED) for name, count in right.items()},
            "matched": _ratio(state.matched, state.visible, NONE_VISIBLE),
            "mean_error_px": _ratio(state.error_px, state.matched, _NONE_MATCHED),
            "matches": int(state.predictions),
            "judged_matches": int(state.judged),
        }


def _within(errors: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.array([np.count_nonzero(errors <= limit) for limit in THRESHOLDS_PX], np.int64)


def _ratio(part: float, whole: int, without: Undefined) -> float | Undefined:
    return float(part) / int(whole) if whole else without
