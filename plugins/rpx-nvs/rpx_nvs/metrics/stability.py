"""Temporal stability of synthesised views: do colours change as the true ones do?"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Output, Undefined
from rpx_core.stability import (
    ChangeSums,
    TemporalStability,
    compare_changes,
    stability_outputs,
    view_of,
)
from rpx_core.warp import PixelPairs, View
from rpx_nvs.colours import to_unit
from rpx_nvs.types import Colours, NovelViewSynthesisGroundTruth


class NvsStability(TemporalStability):
    """Do synthesised colours change between two targets as the true ones do? (rules `rpx-2`)

    ts and ts_coverage as `rpx_core.stability.TemporalStability` defines them, for the frames of
    the targets and colours from 0 to 1: ts = 1 - Σ|Δp - Δg| / Σ|Δg| over the channels of surface
    points that both targets see at a scored pixel. 1 follows every true change of light and
    reflection, 0 is a surface that never changes colour, no lower end; higher is better. Undefined
    without target depth, intrinsics and source pose, and where no colour changes. Raises
    MetricError for a camera that is none. Source: the temporal stability of the RPX benchmark
    (2026), corrected, for colours.

    Trap: where light is steady, the true change is mostly sensor noise, which no model can follow,
    and ts is below 0.
    """

    version: ClassVar[str] = "1"
    outputs = stability_outputs(
        Output(better=None, summary="pixels of the earlier target seen in the later one")
    )

    def view(self, frame: Frame) -> View | Undefined:
        """The target's depth from the target's camera."""
        truth: NovelViewSynthesisGroundTruth = frame.truth
        # Without a source pose every target pose has a world of its own.
        is_placed = frame.sample.camera_pose is not None
        return view_of(truth.depth, truth.intrinsics, truth.camera_pose if is_placed else None)

    def compare(self, previous: Frame, current: Frame, pairs: PixelPairs) -> ChangeSums:
        """Changes of colour over scored pixels; every pixel is answered."""
        scored = _scored(pairs, previous.truth, current.truth)
        sums = compare_changes(
            _change(previous.prediction.rgb, current.prediction.rgb, scored),
            _change(previous.truth.rgb, current.truth.rgb, scored),
        )
        # Points, not channels: coverage is a share of pixels.
        return replace(sums, answered=scored.target.size)


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
    return pairs.select(keep)


def _change(previous: Colours, current: Colours, pairs: PixelPairs) -> NDArray[np.float64]:
    before, now = pairs.values(previous, current)
    return (to_unit(now) - to_unit(before)).reshape(-1)
