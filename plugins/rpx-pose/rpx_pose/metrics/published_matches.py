"""The keypoint metrics of the published RPX toolkit, under their own names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Sum
from rpx_pose.matching import TrueMatches, published_errors
from rpx_pose.metrics.matches import NONE_VISIBLE
from rpx_pose.types import KeypointCorrespondenceGroundTruth, KeypointCorrespondencePrediction

THRESHOLD_PX = 3.0
_NONE = Undefined("there are no matches")


@dataclass(frozen=True)
class PublishedCounts:
    """Visible true points, those with an error below the threshold, those with a finite one."""

    points: Sum
    right: Sum
    answered: Sum
    error_px: Sum


class PublishedMatches:
    """Share of points matched within 3 px and mean match error, as the RPX toolkit publishes them.

    Points are (n, 2) pixels x, y. Each visible true point (g0, g1) takes the match (p0, p1) whose
    p0 is nearest, at any distance; its error is |p1 - g1|. keypoint_acc share of errors < 3 px
    (strictly), 0 to 1, higher is better · mean_match_error mean error in px, 0 is best, lower is
    better.

    Undefined without visible points, where the published code says 1 and 0. Without matches the
    accuracy is 0 and the mean error undefined (published: infinite). `sample` averages pairs of
    images, `pooled` points. Source: the RPX benchmark toolkit, 2026.

    Trap: without a gate, a match that starts at the other end of the image can earn credit, and
    a detector's distance from the true point counts as error; `keypoint-matches` has neither
    fault.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = PublishedCounts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "keypoint_acc": Output(
                better="higher", best=1.0, worst=0.0,
                summary="visible points whose nearest match ends within 3 px, no gate",
            ),
            "mean_match_error": Output(
                better="lower", unit="px", best=0.0,
                summary="mean distance from where the nearest match should end, no gate",
            ),
        }
    )  # fmt: skip

    def measure(
        self,
        sample: Sample,
        truth: KeypointCorrespondenceGroundTruth,
        prediction: KeypointCorrespondencePrediction,
    ) -> PublishedCounts | Undefined:
        """Counts over one pair of images, undefined without visible points."""
        visible = truth.visible()
        if not visible.any():
            return NONE_VISIBLE
        true = TrueMatches(truth.points0, truth.points1, visible)
        errors = published_errors(true, prediction.points0, prediction.points1)
        finite = errors[np.isfinite(errors)]
        return PublishedCounts(
            points=errors.size,
            right=int(np.count_nonzero(errors < THRESHOLD_PX)),
            answered=finite.size,
            error_px=float(finite.sum()),
        )

    def result(self, state: PublishedCounts) -> ResultMap:
        """Both outputs for one pair of images, or for the pooled points of many."""
        error = float(state.error_px) / int(state.answered) if state.answered else _NONE
        return {
            "keypoint_acc": int(state.right) / int(state.points),
            "mean_match_error": error,
        }
