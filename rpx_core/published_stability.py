"""The published temporal stability of label maps: overlap with the previous frame, turned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

Labels = NDArray[Any]
Pose = NDArray[np.float64]

OUTSIDE = -1
"""What turning brings in from beyond the image; no label."""

_STEPS = 1024
"""The published code turns with OpenCV, which finds nearest pixels on a grid of 1/1024 pixel."""


def score_label_pairs(
    masks: Sequence[Labels], poses: Sequence[Pose | None]
) -> tuple[float | None, ...]:
    """The published score of each neighbouring pair, in list order; empty for fewer than two.

    The later map is turned by the in-plane angle of the relative pose (not at all when a pose is
    None); the score is the mean IoU, by equal ids, of the ids from 0 in either map; None without
    any. Trap: translation, pan and tilt are ignored, and a constant map scores 1.
    """
    if len(poses) != len(masks):
        raise MetricError(f"{len(masks)} masks with {len(poses)} poses; one each was expected")
    return tuple(
        _score_pair((masks[index], masks[index + 1]), (poses[index], poses[index + 1]))
        for index in range(len(masks) - 1)
    )


def turn_labels(labels: Labels, angle: float) -> Labels:
    """The map turned about (width/2, height/2): nearest pixel, -1 outside.

    Counter-clockwise as seen, in radians; bit-equal to what OpenCV 4 gives.
    """
    height, width = labels.shape
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y = np.arange(width)[None, :], np.arange(height)[:, None]
    left = (1 - cosine) * width / 2 + sine * height / 2
    top = (1 - cosine) * height / 2 - sine * width / 2
    column = _nearest(cosine * x, left - sine * y)
    row = _nearest(sine * x, top + cosine * y)
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    turned = np.full(labels.shape, OUTSIDE, np.int64)
    turned[inside] = labels[row[inside], column[inside]]
    return turned


def _nearest(across: NDArray[np.float64], down: NDArray[np.float64]) -> NDArray[np.int64]:
    steps = np.rint(across * _STEPS).astype(np.int64) + np.rint(down * _STEPS).astype(np.int64)
    return (steps + _STEPS // 2) // _STEPS


def _score_pair(
    masks: tuple[Labels, Labels], poses: tuple[Pose | None, Pose | None]
) -> float | None:
    before, now = masks
    if before.shape != now.shape or before.ndim != 2:
        raise MetricError(
            f"adjacent masks are {before.shape} and {now.shape}; equal heights and widths expected"
        )
    first, second = poses
    if first is not None and second is not None:
        relative = np.linalg.inv(first) @ second
        now = turn_labels(now, float(np.arctan2(relative[1, 0], relative[0, 0])))
    overlaps = [
        np.count_nonzero((before == label) & (now == label))
        / np.count_nonzero((before == label) | (now == label))
        for label in np.union1d(before, now)
        if label >= 0
    ]
    return float(np.mean(overlaps)) if overlaps else None
