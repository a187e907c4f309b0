"""Temporal stability of masks over two adjacent frames, by the corrected and the published rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Output, ResultMap, Unit
from rpx_core.geometry import opencv_from_t265
from rpx_core.state import Sum
from rpx_core.warp import (
    ChangeSums,
    PixelPairs,
    View,
    compare_changes,
    label_change,
    match_pixels,
    temporal_stability,
)
from rpx_seg.overlaps import VOID, Vector
from rpx_seg.stability import published_pair_score
from rpx_seg.types import LabelMap


@dataclass(frozen=True)
class StabilitySums:
    """Changes of predicted against true labels; adding pools frame pairs.

    Of the earlier frame's `truth_pixels` with depth, `judged` are seen again in the later frame
    and void in neither; of those, `changed` truly change their label, and `error` change in one
    of truth and prediction but not in the other.
    """

    truth_pixels: Sum
    judged: Sum
    error: Sum
    changed: Sum


class LabelStability:
    """Do predicted labels change between two frames where the true ones do? (readiness `rpx-2`)

    ts = 1 - Σ|Δp - Δg| / Σ|Δg|, Δ = 1 where the label of a surface point differs between the
    frames and 0 where not, for predicted (p) and true (g) labels of (H, W) maps. Points are
    followed with the true depth, the intrinsics and the full pose of both frames, the nearest
    point winning, and kept only where the later frame measures that depth too (5 %). 1 changes
    with the truth, 0 is a constant prediction, no lower end; higher is better. ts_coverage is the
    share of the earlier frame's pixels with depth behind it.

    Frames are neighbours in their sequence. Undefined where no true label changes, and without
    depth, pose or intrinsics. `sample` is the mean over pairs, `pooled` the ratio of the sums.

    Traps: true labels change mostly where outlines fall on other pixels, so a few flickering
    pixels weigh much. Ids are compared as they are: a model that numbers its segments anew in
    every frame scores far below 0.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.PAIR
    State: ClassVar[type] = StabilitySums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "ts": Output(
                better="higher", best=1.0,
                summary="1 minus wrong label changes over true ones",
            ),
            "ts_coverage": Output(
                better="higher", best=1.0, worst=0.0,
                summary="pixels with depth that are seen in both frames",
            ),
        }
    )  # fmt: skip

    def measure(self, previous: Frame, current: Frame) -> StabilitySums | None:
        """Sums over the surface points seen in both frames, or None when they cannot be matched."""
        before, now = _view(previous), _view(current)
        if before is None or now is None:
            return None
        pairs = match_pixels(before, now)
        if not pairs.truth_pixels:
            return None
        sums = compare_changes(
            label_change(previous.prediction.mask, current.prediction.mask, pairs),
            _true_change(previous.truth.mask, current.truth.mask, pairs),
        )
        return StabilitySums(
            pairs.truth_pixels, sums.answered, round(sums.error), round(sums.true_change)
        )

    def result(self, state: StabilitySums) -> ResultMap:
        """The outputs of one pair, or of the pooled points of many."""
        sums = ChangeSums(error=float(state.error), true_change=float(state.changed))
        return {
            "ts": temporal_stability(sums),
            "ts_coverage": int(state.judged) / int(state.truth_pixels),
        }


@dataclass(frozen=True)
class PairScores:
    """Published scores of frame pairs, and how many; adding pools pairs."""

    pairs: Sum
    score: Sum


class PublishedLabelStability:
    """The published temporal stability of predicted masks (readiness `rpx-1`).

    ts is the mean IoU, by equality, over the labels from 0 in either of two (H, W) maps: the
    earlier predicted one, and the later one turned by the in-plane angle of the relative pose
    (not at all without poses). 0 to 1, higher is better; undefined, where the published function
    returns 1, without any label. `sample` is the mean over pairs.

    Traps: translation, pan and tilt are ignored, the truth is not used, and a constant map scores
    1; `LabelStability` has none of these faults. The angle is taken in the T265 axes of the
    published poses, in which it turns the image the right way round.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.PAIR
    State: ClassVar[type] = PairScores
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "ts": Output(
                better="higher", best=1.0, worst=0.0,
                summary="published stability of adjacent masks",
            )
        }
    )  # fmt: skip

    def measure(self, previous: Frame, current: Frame) -> PairScores | None:
        """The score of one pair, or None when the masks hold no label."""
        score = published_pair_score(
            (previous.prediction.mask, current.prediction.mask),
            (_t265_pose(previous), _t265_pose(current)),
        )
        return None if score is None else PairScores(1, score)

    def result(self, state: PairScores) -> ResultMap:
        """The score of one pair, or the mean over many."""
        return {"ts": float(state.score) / int(state.pairs)}


def _view(frame: Frame) -> View | None:
    sample, depth = frame.sample, frame.truth.depth
    if depth is None or sample.intrinsics is None or sample.camera_pose is None:
        return None
    return View(depth, sample.intrinsics, sample.camera_pose)


def _true_change(before: LabelMap, now: LabelMap, pairs: PixelPairs) -> Vector:
    """Change of true labels; NaN where one of the two is void."""
    void = (before.reshape(-1)[pairs.source] == VOID) | (now.reshape(-1)[pairs.target] == VOID)
    change: Vector = np.where(void, np.nan, label_change(before, now, pairs))
    return change


def _t265_pose(frame: Frame) -> NDArray[np.float64] | None:
    pose = frame.sample.camera_pose
    # The change of axes is its own inverse.
    return None if pose is None else opencv_from_t265(pose)
