"""Temporal stability of masks over two adjacent frames, by the corrected and the published rule."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rpx_core.contracts import Frame, Undefined
from rpx_core.outputs import share
from rpx_core.published.stability import score_labels
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
from rpx_core.warp import PixelPairs, View
from rpx_seg.overlaps import VOID, Vector
from rpx_seg.types import LabelMap, SegmentationPrediction


class LabelStability(TemporalStability):
    """Do predicted labels change between two frames where the true ones do? (readiness `rpx-2`)

    ts and ts_coverage as `rpx_core.stability.TemporalStability` defines them, for (H, W) maps of
    labels: ts = 1 - Σ|Δp - Δg| / Σ|Δg|, Δ = 1 where the label of a surface point differs between
    the frames and 0 where not, over points whose true label is void in neither. 1 changes with the
    truth, 0 is a constant prediction, no lower end; higher is better. Undefined where no true
    label changes, and without depth, pose or intrinsics. Raises MetricError for a camera that is
    none. Source: the temporal stability of the RPX benchmark (2026), corrected.

    Traps: true labels change mostly where outlines fall on other pixels, so a few flickering
    pixels weigh much. Ids are compared as they are: a model that numbers its segments anew in
    every frame scores far below 0.
    """

    version: ClassVar[str] = "1"
    outputs = stability_outputs(
        share("pixels with depth that are seen in both frames", headline="sample", attained=False)
    )

    def view(self, frame: Frame) -> View | Undefined:
        """The truth's depth from the sample's camera."""
        return view_of(frame.truth.depth, frame.sample.intrinsics, frame.sample.camera_pose)

    def compare(self, previous: Frame, current: Frame, pairs: PixelPairs) -> ChangeSums:
        """Changes of labels; a point whose true label is void in either frame is unanswered."""
        before, now = pairs.values(previous.truth.mask, current.truth.mask)
        true = np.where((before == VOID) | (now == VOID), np.nan, _change(before, now))
        predicted = pairs.values(previous.prediction.mask, current.prediction.mask)
        return compare_changes(_change(*predicted), true)


class PublishedLabelStability(PublishedStability):
    """The published temporal stability of predicted masks (readiness `rpx-1`).

    ts is the mean IoU, by equality, over the labels from 0 in either of two (H, W) maps: the
    earlier predicted one, and the later one turned as `rpx_core.stability.PublishedStability`
    says. 0 to 1, higher is better; undefined, where the published function returns 1, without any
    label. Raises MetricError for masks of unequal shapes. Source: the RPX benchmark toolkit, 2026.
    The traps are those of the rule: a constant map scores 1.
    """

    version: ClassVar[str] = "1"
    outputs = published_outputs("masks")

    def score(
        self, previous: SegmentationPrediction, current: SegmentationPrediction, poses: Poses
    ) -> float | Undefined:
        """The score of two masks, earlier first."""
        score = score_labels((previous.mask, current.mask), poses)
        return Undefined("neither mask holds a label") if score is None else score


def _change(before: LabelMap, now: LabelMap) -> Vector:
    changed: Vector = np.not_equal(before, now).astype(np.float64)
    return changed
