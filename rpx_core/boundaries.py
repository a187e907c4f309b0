"""Boundaries as bool maps: where labels or depth jump, grown, and how near two of them are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

Mask = NDArray[np.bool_]


def label_boundary(labels: NDArray[Any]) -> Mask:
    """Pixels of a (height, width) map whose right or lower neighbour has another label."""
    _check(labels, "a label map")
    boundary = np.zeros(labels.shape, np.bool_)
    boundary[:, :-1] = labels[:, 1:] != labels[:, :-1]
    boundary[:-1] |= labels[1:] != labels[:-1]
    return boundary


def gradient_boundary(depth: NDArray[Any], threshold: float) -> Mask:
    """Pixels whose central-difference gradient exceeds `threshold` metres per pixel.

    In float32, as published; differences along an axis are 0 in its first and last pixel. Trap:
    the map is used as it is, so the rim of a hole (0 m) is a boundary, and so is any slanted
    surface far away.
    """
    _check(depth, "a depth map")
    with np.errstate(invalid="ignore", over="ignore"):
        metres = depth.astype(np.float32)
        down, right = np.zeros_like(metres), np.zeros_like(metres)
        down[1:-1] = (metres[2:] - metres[:-2]) / 2
        right[:, 1:-1] = (metres[:, 2:] - metres[:, :-2]) / 2
        steep: Mask = np.sqrt(right**2 + down**2) > threshold
    return steep


def dilate(mask: Mask, steps: int) -> Mask:
    """The map grown `steps` times by its four neighbours: one pixel becomes a diamond."""
    grown = mask.copy()
    for _ in range(steps):
        before = grown.copy()
        grown[1:] |= before[:-1]
        grown[:-1] |= before[1:]
        grown[:, 1:] |= before[:, :-1]
        grown[:, :-1] |= before[:, 1:]
    return grown


def near(mask: Mask, other: Mask, radius: float) -> Mask:
    """The pixels of a map that have one of the other, of equal shape, within `radius` pixels.

    Distances are between pixel centres, as the crow flies; at 0, only the pixel itself counts.
    """
    rows, columns = np.nonzero(mask)
    reach, width = math.floor(radius), mask.shape[1]
    # Row sums turn "any in this stretch of a row" into two look-ups per pixel.
    sums = np.zeros((other.shape[0] + 2 * reach, width + 1), np.int32)
    np.cumsum(other, axis=1, out=sums[reach : reach + other.shape[0], 1:])
    found = np.zeros(rows.size, np.bool_)
    for shift in range(-reach, reach + 1):
        across = math.floor(math.sqrt(radius * radius - shift * shift))
        line = rows + (reach + shift)
        right = np.minimum(columns + (across + 1), width)
        found |= sums[line, right] != sums[line, np.maximum(columns - across, 0)]
    close = np.zeros(mask.shape, np.bool_)
    close[rows[found], columns[found]] = True
    return close


def _check(array: NDArray[Any], what: str) -> None:
    if array.ndim != 2:
        raise MetricError(f"{what} has shape {array.shape}; height x width expected")
