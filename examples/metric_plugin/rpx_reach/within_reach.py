"""The share of pixels within reach that are good enough to grasp by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Combine
from rpx_depth.published import DepthGroundTruth, DepthPrediction

_Count = Annotated[int, Combine.SUM]


class WithinReachOptions(BaseModel, frozen=True, extra="forbid"):
    """How far the robot reaches, and how wrong a depth may be."""

    reach_m: Annotated[float, Field(gt=0)] = 1.0
    tolerance_m: Annotated[float, Field(gt=0)] = 0.02


@dataclass(frozen=True)
class Counts:
    """Pixels within reach, and those of them that are right."""

    pixels: _Count
    right: _Count


class WithinReach:
    """right = |{g ≤ reach_m and |p − g| ≤ tolerance_m}| / |{g ≤ reach_m}|, over pixels with truth.

    Truth g and prediction p are (H, W) in metres. 0 to 1, higher is better. A pixel that is not
    answered is not right. Undefined for an image without truth within reach.

    Trap: a protocol that leaves out near truth leaves out what this measures.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = Counts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "right": Output(
                better="higher",
                best=1.0,
                worst=0.0,
                headline="pooled",
                summary="share of pixels within reach that are right",
            )
        }
    )

    def __init__(self, options: WithinReachOptions) -> None:
        self._options = options

    def measure(
        self, sample: Sample, truth: DepthGroundTruth, prediction: DepthPrediction
    ) -> Counts | Undefined:
        """Counts of one image."""
        depth = truth.depth_map
        within = (depth > 0) & (depth <= self._options.reach_m)
        if not within.any():
            return Undefined("no true depth within reach")
        # An abstention (NaN, or not positive) compares as wrong.
        right = abs(prediction.depth_map[within] - depth[within]) <= self._options.tolerance_m
        return Counts(pixels=int(within.sum()), right=int(right.sum()))

    def result(self, state: Counts) -> ResultMap:
        """The share."""
        return {"right": state.right / state.pixels}
