"""What a protocol does to predicted depths before they are measured: fit, floor, clamp."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rpx_core.errors import ConfigError
from rpx_depth import alignment
from rpx_depth.pixel_errors import Depth, is_depth
from rpx_depth.regions import Region
from rpx_depth.types import DepthPair

CLIPPED_SHARE = 0.01
"""Above this share of answers beyond infinity, a fit in inverse depth deserves a warning."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Depths after an adjustment, and what was fitted or how many of them were moved."""

    depth: Depth
    facts: Mapping[str, float]

    @property
    def note(self) -> str | None:
        """What the report should warn of."""
        if self.facts.get("clipped", 0) <= CLIPPED_SHARE * self.depth.size:
            return None
        return f"the fit puts more than {CLIPPED_SHARE:.0%} of a prediction beyond infinity"


@dataclass(frozen=True)
class Adjustment:
    """After the alignment, `floor` raises answers to the region's near end, `clamp` moves them in.

    Raises ConfigError for a floor without a positive near end.
    """

    region: Region
    floor: bool = False
    clamp: bool = False

    def __post_init__(self) -> None:
        if self.floor and not self.region.min_depth:
            raise ConfigError(
                "options.nonpositive: `floor` needs a positive options.min_depth to raise to"
            )

    def adjust(self, method: str, pairs: Sequence[DepthPair]) -> list[Adjusted | None]:
        """Each pair's prediction after one fit over all pairs; None where that is undefined.

        Facts: scale and shift of the fit, `clipped` answers capped at the far end of inverse depth,
        `floored` and `clamped` ones. The far cap is the region's far end, else the largest truth.
        A frame without any answer stays as it is: it needs no fit to be a failure.
        """
        if method == "none":
            return [self._limit(pair.prediction, {}) for pair in pairs]
        fitted = alignment.fit(method, pairs)
        if fitted is None:
            return [
                None if alignment.usable(method, pair).any() else self._limit(pair.prediction, {})
                for pair in pairs
            ]
        farthest = max(float(pair.truth.max(initial=0)) for pair in pairs)
        far_cap = self.region.max_depth or farthest
        adjusted: list[Adjusted | None] = []
        for pair in pairs:
            aligned = alignment.apply(fitted, pair.prediction, far_cap=far_cap)
            facts = {"scale": fitted.scale, "shift": fitted.shift, "clipped": aligned.clipped}
            adjusted.append(self._limit(aligned.depth, facts))
        return adjusted

    def _limit(self, depth: Depth, facts: Mapping[str, float]) -> Adjusted:
        limited = Adjusted(depth, facts)
        if self.floor and self.region.min_depth:
            raised = floor_depth(limited.depth, self.region.min_depth)
            limited = Adjusted(raised.depth, {**limited.facts, **raised.facts})
        if self.clamp:
            clamped = clamp_depth(limited.depth, self.region)
            limited = Adjusted(clamped.depth, {**limited.facts, **clamped.facts})
        return limited


def floor_depth(prediction: Depth, floor: float) -> Adjusted:
    """Raise every finite prediction below `floor` (metres) to it, and count the `floored`.

    The policy of protocols that turn a zero or negative prediction into a very near answer instead
    of an abstention; NaN and infinities still abstain.
    """
    if not (floor > 0 and math.isfinite(floor)):
        raise ConfigError(f"the smallest predicted depth is {floor} m; a positive number expected")
    low = np.isfinite(prediction) & (prediction < floor)
    raised = np.where(low, floor, prediction)
    return Adjusted(raised, {"floored": int(np.count_nonzero(low))})


def clamp_depth(prediction: Depth, region: Region) -> Adjusted:
    """Move the answers into the region's range, and count the `clamped`.

    A predicted NaN, infinity, zero or negative is no answer, and clamping must not make one of it.
    """
    if region.min_depth is None and region.max_depth is None:
        return Adjusted(prediction, {"clamped": 0})
    wide = prediction.astype(np.float32) if prediction.dtype == np.float16 else prediction
    answered = is_depth(wide)
    clamped = np.where(answered, np.clip(wide, region.min_depth, region.max_depth), wide)
    return Adjusted(clamped, {"clamped": int(np.count_nonzero(answered & (clamped != wide)))})
