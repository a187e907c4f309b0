"""The published temporal stability of masks: overlap with the previous frame, turned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_seg.overlaps import Labels
from rpx_seg.raw_iou import either_id_miou

Pose = NDArray[np.float64]

_OUTSIDE = -1


def published_temporal_stability_seg(
    masks: Sequence[Labels], poses: Sequence[Pose | None]
) -> tuple[float, ...]:
    """The published score of each neighbouring pair, in list order; empty for fewer than two.

    The later mask is turned by the in-plane angle of the relative pose (not at all when a pose is
    None); the score is the mean IoU over the ids from 0 in either mask, by equality, 1 without
    any. Trap: translation, pan and tilt are ignored, and a constant mask scores 1.
    """
    if len(poses) != len(masks):
        raise MetricError(f"{len(masks)} masks with {len(poses)} poses; one each expected")
    scores = []
    for index in range(len(masks) - 1):
        pair = slice(index, index + 2)
        score = published_pair_score((masks[index], masks[index + 1]), tuple(poses[pair]))
        scores.append(1.0 if score is None else score)
    return tuple(scores)


def published_pair_score(
    masks: tuple[Labels, Labels], poses: tuple[Pose | None, ...]
) -> float | None:
    """The published score of two masks, earlier first; None when they hold no id from 0."""
    before, now = masks
    if before.shape != now.shape:
        raise MetricError(
            f"adjacent masks are {before.shape} and {now.shape}; equal shapes expected"
        )
    first, second = poses
    if first is not None and second is not None:
        relative = np.linalg.inv(first) @ second
        now = turn_labels(now, float(np.arctan2(relative[1, 0], relative[0, 0])))
    return either_id_miou(before, now)


def turn_labels(labels: Labels, angle: float) -> Labels:
    """The map turned about (width/2, height/2): nearest, -1 outside, as `rpx_core.warp.turn` does.

    Counter-clockwise as seen, in radians.
    """
    height, width = labels.shape
    cosine, sine = np.cos(angle), np.sin(angle)
    x = np.arange(width)[None, :] - width / 2
    y = np.arange(height)[:, None] - height / 2
    column = np.floor(cosine * x - sine * y + width / 2 + 0.5).astype(np.int64)
    row = np.floor(sine * x + cosine * y + height / 2 + 0.5).astype(np.int64)
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    turned = np.full(labels.shape, _OUTSIDE, np.int64)
    turned[inside] = labels[row[inside], column[inside]]
    return turned
