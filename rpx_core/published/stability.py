"""The published temporal stability: each map against the next one, turned; and that of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_core.geometry import Matrix
from rpx_core.stability import Poses

Map = TypeVar("Map")
Labels = NDArray[Any]

_POSES = "poses are 4x4 camera-to-world matrices, or None where they are not known"

OUTSIDE = -1
"""What turning brings in from beyond the image; no label."""

_STEPS = 1024
"""The published code turns with OpenCV, which finds nearest pixels on a grid of 1/1024 pixel."""


def score_neighbours(
    maps: Sequence[Map],
    poses: Sequence[Matrix | None],
    score: Callable[[tuple[Map, Map], Poses], float | None],
) -> tuple[float | None, ...]:
    """The score of each map with the next, in list order; empty for fewer than two."""
    if len(poses) != len(maps):
        raise MetricError(f"{len(maps)} maps with {len(poses)} poses; one each was expected")
    return tuple(
        score((maps[index], maps[index + 1]), (poses[index], poses[index + 1]))
        for index in range(len(maps) - 1)
    )


def in_plane_angle(poses: Poses) -> float | None:
    """By how much the camera rolled between two frames, in radians; None without both poses.

    The trap: of the relative pose, translation, pan and tilt are ignored, as published.
    """
    first, second = poses
    if first is None or second is None:
        return None
    try:
        relative = np.linalg.inv(_pose(first)) @ _pose(second)
    except np.linalg.LinAlgError as error:
        raise MetricError(
            "a camera pose is singular: it is no motion of a camera", hint=_POSES
        ) from error
    return float(np.arctan2(relative[1, 0], relative[0, 0]))


def _pose(value: Any) -> Matrix:
    pose = np.asarray(value)
    if pose.shape != (4, 4) or pose.dtype.kind not in "iuf" or not np.isfinite(pose).all():
        raise MetricError(
            f"a camera pose is of shape {pose.shape} and {pose.dtype}; 4x4 finite numbers were "
            "expected",
            hint=_POSES,
        )
    return pose.astype(np.float64)


def score_labels(masks: tuple[Labels, Labels], poses: Poses) -> float | None:
    """The published score of two label maps, earlier first; None when they hold no id from 0.

    The later map is turned by the in-plane angle of the relative pose (not at all when a pose is
    None); the score is the mean IoU, by equal ids, of the ids from 0 in either map. Trap: a
    constant map scores 1.
    """
    before, now = masks
    if before.shape != now.shape or before.ndim != 2:
        raise MetricError(
            f"adjacent masks are {before.shape} and {now.shape}; equal heights and widths expected"
        )
    angle = in_plane_angle(poses)
    if angle is not None:
        now = turn_labels(now, angle)
    overlaps = [
        np.count_nonzero((before == label) & (now == label))
        / np.count_nonzero((before == label) | (now == label))
        for label in np.union1d(before, now)
        if label >= 0
    ]
    return float(np.mean(overlaps)) if overlaps else None


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
