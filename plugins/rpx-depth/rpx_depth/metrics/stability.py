"""Temporal stability of depth over two adjacent frames, by the corrected and the published rule."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Undefined
from rpx_core.outputs import share
from rpx_core.stability import (
    ChangeSums,
    Poses,
    PublishedStability,
    TemporalStability,
    compare_changes,
    published_outputs,
    stability_outputs,
    view_of,
)
from rpx_core.warp import Depth, PixelPairs, View, is_measured
from rpx_depth.published_stability import published_pair_score
from rpx_depth.types import DepthPrediction


class DepthStability(TemporalStability):
    """Does predicted depth change between two frames as the true depth does? (readiness `rpx-2`)

    ts and ts_coverage as `rpx_core.stability.TemporalStability` defines them, for (H, W) maps in
    metres: ts = 1 - Σ|Δp - Δg| / Σ|Δg| over the truth pixels of the earlier frame that are seen
    again in the later one and have a finite, positive answer in both. 1 is perfect, 0 a constant
    prediction, no lower end; higher is better. Undefined where nothing truly changes, and without
    pose, intrinsics or truth. Raises MetricError for a camera that is none. Source: the temporal
    stability of the RPX benchmark (2026), corrected.

    Traps: depth noise of the sensor counts as true change. A constant scale error counts too,
    since Δp scales with it: stability is no substitute for accuracy, nor free of it.
    """

    version: ClassVar[str] = "1"
    outputs = stability_outputs(
        share(
            "truth pixels seen in both frames and answered in both",
            headline="sample",
            attained=False,
        )
    )

    def view(self, frame: Frame) -> View | Undefined:
        """The true depth from the sample's camera."""
        return view_of(frame.truth.depth_map, frame.sample.intrinsics, frame.sample.camera_pose)

    def compare(self, previous: Frame, current: Frame, pairs: PixelPairs) -> ChangeSums:
        """Changes of depth in metres; a pixel that is no depth in either frame is unanswered."""
        sums = ChangeSums()
        for part in pairs.blocks():
            sums += compare_changes(
                _change(previous.prediction.depth_map, current.prediction.depth_map, part),
                _change(previous.truth.depth_map, current.truth.depth_map, part),
            )
        return sums


class PublishedDepthStability(PublishedStability):
    """The published temporal stability of predicted depth (readiness `rpx-1`).

    ts = max(0, 1 - mean|p' - p| / max(range of p, 1 mm)): p is the earlier predicted map (H, W) in
    metres, p' the later one turned as `rpx_core.stability.PublishedStability` says, over pixels
    where both are positive. 0 to 1, higher is better; undefined, where the published function
    returns 1, without such pixels. Raises MetricError for maps of unequal shapes. Source: the
    RPX benchmark toolkit, 2026. The traps are those of the rule: a constant map scores 1.
    """

    version: ClassVar[str] = "1"
    outputs = published_outputs("depth maps")

    def score(
        self, previous: DepthPrediction, current: DepthPrediction, poses: Poses
    ) -> float | Undefined:
        """The score of two maps, earlier first."""
        score = published_pair_score((previous.depth_map, current.depth_map), poses)
        return Undefined("the two maps share no depth") if score is None else score


def _change(previous: Depth, current: Depth, pairs: PixelPairs) -> NDArray[np.float64]:
    before, now = (ends.astype(np.float64) for ends in pairs.values(previous, current))
    known = is_measured(before) & is_measured(now)
    change: NDArray[np.float64] = np.where(known, now, np.nan) - np.where(known, before, np.nan)
    return change
