"""Temporal stability of synthesised views: do colours change as the true ones do?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Output, ResultMap, Unit
from rpx_core.state import Sum
from rpx_core.warp import (
    ChangeSums,
    PixelPairs,
    View,
    compare_changes,
    match_pixels,
    temporal_stability,
)
from rpx_nvs.colours import to_unit
from rpx_nvs.types import Colours, NovelViewSynthesisGroundTruth


@dataclass(frozen=True)
class StabilitySums:
    """Change of the prediction against change of the truth; adding pools pairs of views.

    Of the earlier target's `truth_pixels` with depth, `paired` are seen again in the later target;
    over their channels, error = Σ|Δp - Δg| and true_change = Σ|Δg|, colours from 0 to 1.
    """

    truth_pixels: Sum
    paired: Sum
    error: Sum
    true_change: Sum


class NvsStability:
    """Do synthesised colours change between two targets as the true ones do? (rules `rpx-2`)

    ts = 1 - Σ|Δp - Δg| / Σ|Δg|, Δx = x(t+1, u') - x(t, u) per colour channel, where u' sees the
    surface point of u: found with the targets' depth, intrinsics and full poses, the nearest point
    winning, and kept only where the later target measures that depth too (5 %) and both pixels are
    scored. 1 follows every true change of light and reflection, 0 is a surface that never changes
    colour, no lower end; higher is better. ts_coverage is the share of the earlier target's pixels
    with depth behind it.

    Undefined without target depth, intrinsics and source pose, and where no colour changes.
    `sample` is the mean over pairs, `pooled` the ratio of the sums. Trap: where light is steady,
    the true change is mostly sensor noise, which no model can follow, and ts is below 0.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.PAIR
    State: ClassVar[type] = StabilitySums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "ts": Output(
                better="higher", best=1.0,
                summary="1 minus the error of temporal change over the true change",
            ),
            "ts_coverage": Output(
                better=None, summary="pixels of the earlier target seen in the later one"
            ),
        }
    )  # fmt: skip

    def measure(self, previous: Frame, current: Frame) -> StabilitySums | None:
        """Sums over the surface points seen in both targets, or None when they have no geometry."""
        before, now = _view(previous), _view(current)
        if before is None or now is None:
            return None
        pairs = match_pixels(before, now)
        if not pairs.truth_pixels:
            return None
        pairs = _scored(pairs, previous.truth, current.truth)
        sums: ChangeSums = compare_changes(
            _change(previous.prediction.rgb, current.prediction.rgb, pairs),
            _change(previous.truth.rgb, current.truth.rgb, pairs),
        )
        return StabilitySums(pairs.truth_pixels, pairs.target.size, sums.error, sums.true_change)

    def result(self, state: StabilitySums) -> ResultMap:
        """The outputs of one pair, or of the pooled points of many."""
        sums = ChangeSums(error=float(state.error), true_change=float(state.true_change))
        return {
            "ts": temporal_stability(sums),
            "ts_coverage": int(state.paired) / int(state.truth_pixels),
        }


def _view(frame: Frame) -> View | None:
    truth: NovelViewSynthesisGroundTruth = frame.truth
    # Without a source pose every target pose has a world of its own.
    if frame.sample.camera_pose is None or truth.camera_pose is None:
        return None
    if truth.depth is None or truth.intrinsics is None:
        return None
    return View(truth.depth, truth.intrinsics, truth.camera_pose)


def _scored(
    pairs: PixelPairs,
    previous: NovelViewSynthesisGroundTruth,
    current: NovelViewSynthesisGroundTruth,
) -> PixelPairs:
    keep = np.ones(pairs.target.shape, np.bool_)
    if previous.scored is not None:
        keep &= previous.scored.reshape(-1)[pairs.source]
    if current.scored is not None:
        keep &= current.scored.reshape(-1)[pairs.target]
    return PixelPairs(pairs.source[keep], pairs.target[keep], pairs.truth_pixels, pairs.landed)


def _change(previous: Colours, current: Colours, pairs: PixelPairs) -> NDArray[np.float64]:
    before = to_unit(previous.reshape(-1, 3)[pairs.source])
    now = to_unit(current.reshape(-1, 3)[pairs.target])
    return (now - before).reshape(-1)
