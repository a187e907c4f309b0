"""Temporal stability of depth over two adjacent frames, by the corrected and the published rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Output, ResultMap, Unit
from rpx_core.geometry import opencv_from_t265
from rpx_core.warp import (
    ChangeSums,
    View,
    compare_changes,
    depth_change,
    match_pixels,
    temporal_stability,
)
from rpx_depth.pixel_errors import Count, Total
from rpx_depth.published_stability import published_pair_score


@dataclass(frozen=True)
class StabilitySums:
    """Change of the prediction against change of the truth; adding pools frame pairs.

    Of the earlier frame's `truth_pixels`, `answered` are seen again in the later frame and have a
    prediction in both; over those, error = Σ|Δp - Δg| and true_change = Σ|Δg| in metres.
    """

    truth_pixels: Count
    answered: Count
    error: Total
    true_change: Total


class DepthStability:
    """Does predicted depth change between two frames as the true depth does? (readiness `rpx-2`)

    ts = 1 - Σ|Δp - Δg| / Σ|Δg|, Δx = x(t+1, u') - x(t, u), where u' sees the surface point of u:
    it is found with the true depth, the intrinsics and the full pose of both frames, the nearest
    point winning, and kept only where the later frame measures that depth too (5 %). 1 follows
    every true change, 0 is a constant prediction, no lower end; higher is better. ts_coverage is
    the share of the earlier frame's truth pixels behind it.

    Frames are neighbours in their sequence; maps are (H, W) in metres, poses camera-to-world.
    Undefined where nothing truly changes, and without pose, intrinsics or truth. `sample` is the
    mean over pairs, `pooled` the ratio of the sums over all pairs.

    Traps: depth noise of the sensor counts as true change. A constant scale error counts too,
    since Δp scales with it: stability is no substitute for accuracy, nor free of it.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.PAIR
    State: ClassVar[type] = StabilitySums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "ts": Output(
                better="higher",
                best=1.0,
                summary="1 minus the error of temporal change over the true change",
            ),
            "ts_coverage": Output(
                better="higher",
                best=1.0,
                worst=0.0,
                summary="truth pixels seen in both frames and answered in both",
            ),
        }
    )

    def measure(self, previous: Frame, current: Frame) -> StabilitySums | None:
        """Sums over the surface points seen in both frames, or None when they cannot be matched."""
        before, now = _view(previous), _view(current)
        if before is None or now is None:
            return None
        pairs = match_pixels(before, now)
        if not pairs.truth_pixels:
            return None
        sums = ChangeSums()
        for part in pairs.blocks():
            sums += compare_changes(
                depth_change(previous.prediction.depth_map, current.prediction.depth_map, part),
                depth_change(before.depth, now.depth, part),
            )
        return StabilitySums(pairs.truth_pixels, sums.answered, sums.error, sums.true_change)

    def result(self, state: StabilitySums) -> ResultMap:
        """The outputs of one pair, or of the pooled points of many."""
        sums = ChangeSums(error=float(state.error), true_change=float(state.true_change))
        return {
            "ts": temporal_stability(sums),
            "ts_coverage": int(state.answered) / int(state.truth_pixels),
        }


@dataclass(frozen=True)
class PairScores:
    """Published scores of frame pairs, and how many; adding pools pairs."""

    pairs: Count
    score: Total


class PublishedDepthStability:
    """The published temporal stability of predicted depth (readiness `rpx-1`).

    ts = max(0, 1 - mean|p' - p| / max(range of p, 1 mm)): p is the earlier predicted map (H, W) in
    metres, p' the later one turned by the in-plane angle of the relative pose (not at all without
    poses), over pixels where both are positive. 0 to 1, higher is better; undefined, where the
    published function returns 1, without such pixels. `sample` is the mean over pairs.

    Traps: translation, pan and tilt are ignored, the truth is not used, and a constant map scores
    1; `DepthStability` has none of these faults. The angle is taken in the T265 axes of the
    published poses, in which it turns the image the right way round.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.PAIR
    State: ClassVar[type] = PairScores
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "ts": Output(
                better="higher",
                best=1.0,
                worst=0.0,
                summary="published stability of adjacent depth maps",
            )
        }
    )

    def measure(self, previous: Frame, current: Frame) -> PairScores | None:
        """The score of one pair, or None when the maps share no positive pixel."""
        score = published_pair_score(
            (previous.prediction.depth_map, current.prediction.depth_map),
            (_t265_pose(previous), _t265_pose(current)),
        )
        return None if score is None else PairScores(1, score)

    def result(self, state: PairScores) -> ResultMap:
        """The score of one pair, or the mean over many."""
        return {"ts": float(state.score) / int(state.pairs)}


def _view(frame: Frame) -> View | None:
    sample = frame.sample
    if sample.intrinsics is None or sample.camera_pose is None:
        return None
    return View(frame.truth.depth_map, sample.intrinsics, sample.camera_pose)


def _t265_pose(frame: Frame) -> NDArray[np.float64] | None:
    pose = frame.sample.camera_pose
    # The change of axes is its own inverse.
    return None if pose is None else opencv_from_t265(pose)
