"""Temporal stability: do predictions change from one frame to the next as the truth does?

What the metrics of all dense tasks share. A task says where its surface points are and how its
values change; a metric of it is one of the two rules with that filled in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Output, ResultMap, Undefined, Unit
from rpx_core.geometry import opencv_from_t265
from rpx_core.outputs import share
from rpx_core.state import Sum
from rpx_core.warp import Camera, Depth, Matrix, PixelPairs, View, match_pixels

_STEADY = Undefined("nothing truly changes")
Poses = tuple[Matrix | None, Matrix | None]
"""Of the earlier and the later frame, 4x4 camera-to-world; None where it is not known."""


@dataclass(frozen=True)
class ChangeSums:
    """Predicted against true change of surface points; adding pools frame pairs.

    Of the earlier frame's `truth_pixels` with depth, `answered` are seen again in the later frame
    and have a value in both; over those, error = Σ|Δp - Δg| and true_change = Σ|Δg|.
    """

    truth_pixels: Sum = 0
    answered: Sum = 0
    error: Sum = 0.0
    true_change: Sum = 0.0

    def __add__(self, other: ChangeSums) -> ChangeSums:
        return ChangeSums(
            self.truth_pixels + other.truth_pixels,
            self.answered + other.answered,
            self.error + other.error,
            self.true_change + other.true_change,
        )


class TemporalStability(ABC):
    """The corrected rule (readiness `rpx-2`), for a task that says how its values change.

    ts = 1 - Σ|Δp - Δg| / Σ|Δg|, Δx = x(t+1, u') - x(t, u), where u' sees the surface point of u:
    it is found with the true depth, the intrinsics and the full pose of both frames, the nearest
    point winning, and kept only where the later frame measures that depth too (5 %). 1 follows
    every true change, 0 is a constant prediction, no lower end; higher is better. ts_coverage is
    the share of the earlier frame's pixels with depth behind it.

    Frames are neighbours in their sequence. Undefined where nothing truly changes, and without
    depth, pose or intrinsics. `sample` is the mean over pairs, `pooled` the ratio of the sums.
    """

    version: ClassVar[str]
    unit: ClassVar[Unit] = Unit.PAIR
    State: ClassVar[type] = ChangeSums
    outputs: Mapping[str, Output]

    @abstractmethod
    def view(self, frame: Frame) -> View | Undefined:
        """The true surface that a frame shows; `view_of` says what is missing."""

    @abstractmethod
    def compare(self, previous: Frame, current: Frame, pairs: PixelPairs) -> ChangeSums:
        """Changes between two frames along the pairs; `truth_pixels` is filled in afterwards."""

    def measure(self, previous: Frame, current: Frame) -> ChangeSums | Undefined:
        """Sums over the surface points seen in both frames, or why they cannot be matched."""
        before, now = self.view(previous), self.view(current)
        if isinstance(before, Undefined):
            return before
        if isinstance(now, Undefined):
            return now
        pairs = match_pixels(before, now)
        if not pairs.truth_pixels:
            return Undefined("no pixel of the earlier frame has a depth")
        return self.compare(previous, current, pairs) + ChangeSums(pairs.truth_pixels)

    def result(self, state: ChangeSums) -> ResultMap:
        """The outputs of one pair, or of the pooled points of many."""
        return {
            "ts": _STEADY if (ts := temporal_stability(state)) is None else ts,
            "ts_coverage": int(state.answered) / int(state.truth_pixels),
        }


@dataclass(frozen=True)
class PairScores:
    """Published scores of frame pairs, and how many; adding pools pairs."""

    pairs: Sum
    score: Sum


class PublishedStability(ABC):
    """The published rule (readiness `rpx-1`), for a task that says how it scores two predictions.

    The later prediction is turned by the in-plane angle of the relative pose (not at all without
    poses) and compared with the earlier one; 0 to 1, higher is better. `sample` is the mean over
    pairs.

    Traps: translation, pan and tilt are ignored, the truth is not used, and a constant prediction
    scores 1; `TemporalStability` has none of these faults. The angle is taken in the T265 axes of
    the published poses, in which it turns the image the right way round.
    """

    version: ClassVar[str]
    unit: ClassVar[Unit] = Unit.PAIR
    State: ClassVar[type] = PairScores
    outputs: Mapping[str, Output]

    @abstractmethod
    def score(self, previous: Any, current: Any, poses: Poses) -> float | Undefined:
        """The score of two predictions, earlier first, with poses in T265 axes."""

    def measure(self, previous: Frame, current: Frame) -> PairScores | Undefined:
        """The score of one pair, or why it has none."""
        poses = _t265_pose(previous), _t265_pose(current)
        score = self.score(previous.prediction, current.prediction, poses)
        return score if isinstance(score, Undefined) else PairScores(1, score)

    def result(self, state: PairScores) -> ResultMap:
        """The score of one pair, or the mean over many."""
        return {"ts": float(state.score) / int(state.pairs)}


def stability_outputs(coverage: Output) -> Mapping[str, Output]:
    """The outputs of a `TemporalStability`, of which tasks differ in what they cover."""
    summary = "1 minus the error of temporal change over the true change"
    ts = Output(better="higher", best=1.0, summary=summary)
    return MappingProxyType({"ts": ts, "ts_coverage": coverage})


def published_outputs(predictions: str) -> Mapping[str, Output]:
    """The outputs of a `PublishedStability` of these predictions."""
    summary = f"published stability of adjacent {predictions}"
    # Where the camera moves or depth has noise, the truth itself changes from frame to frame.
    return MappingProxyType({"ts": share(summary, headline="sample", attained=False)})


def view_of(
    depth: Depth | None, intrinsics: Matrix | None, pose: Matrix | None
) -> View | Undefined:
    """The view that these make, or which of them is not known."""
    if pose is None:
        return Undefined("the camera pose is not known")
    if intrinsics is None:
        return Undefined("the intrinsics are not known")
    if depth is None:
        return Undefined("the true depth is not known")
    return View(depth, Camera(intrinsics, pose))


def compare_changes(predicted: NDArray[np.float64], true: NDArray[np.float64]) -> ChangeSums:
    """Sums over the changes of the same values; NaN on either side is unanswered."""
    answered = np.isfinite(predicted) & np.isfinite(true)
    change = true[answered]
    return ChangeSums(
        answered=int(np.count_nonzero(answered)),
        error=float(np.abs(predicted[answered] - change).sum()),
        true_change=float(np.abs(change).sum()),
    )


def temporal_stability(sums: ChangeSums) -> float | None:
    """1 - Σ|Δp - Δg| / Σ|Δg|: 1 follows the true change, 0 is a constant predictor, no lower end.

    None when nothing truly changed: flicker then has no scale to be measured against.
    """
    change = float(sums.true_change)
    return 1 - float(sums.error) / change if change > 0 else None


def _t265_pose(frame: Frame) -> Matrix | None:
    pose = frame.sample.camera_pose
    # The change of axes is its own inverse.
    return None if pose is None else opencv_from_t265(pose)
