"""Boundaries of label maps: thin lines, bands along them, and how near two of them are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_seg.overlaps import VOID, Labels

Mask = NDArray[np.bool_]

BAND = 0.02
"""Width of the band along boundaries, as a share of the image diagonal (Cheng et al. 2021)."""
TOLERANCE = 0.008
"""How far apart boundaries may lie, as a share of the image diagonal (DAVIS)."""

_OUTSIDE = VOID - 1


def label_boundary(labels: Labels) -> Mask:
    """A thin boundary: pixels whose right or lower neighbour has another label."""
    _check(labels)
    boundary = np.zeros(labels.shape, np.bool_)
    boundary[:, :-1] = labels[:, 1:] != labels[:, :-1]
    boundary[:-1] |= labels[1:] != labels[:-1]
    return boundary


def boundary_band(labels: Labels, share: float = BAND) -> Labels:
    """The label map with 0 for what lies deeper than the band inside its segment.

    The band holds pixels that have another label, or the outside of the image, within `share` of
    the image diagonal, rounded and at least 1 pixel, along either axis. Void stays as it is.
    """
    _check(labels)
    width = max(1, round(share * math.hypot(*labels.shape)))
    padded = np.pad(labels.astype(np.int32), width, constant_values=_OUTSIDE)
    # A square window holds one label when no two neighbours inside it differ.
    across = padded[:, 1:] != padded[:, :-1]
    down = padded[1:] != padded[:-1]
    span = 2 * width + 1
    near = _any_in_window(across, span, span - 1) | _any_in_window(down, span - 1, span)
    return np.where(near | (labels == VOID), labels, 0)


def tolerance_px(shape: tuple[int, ...], share: float = TOLERANCE) -> int:
    """The tolerance in whole pixels, rounded up."""
    return math.ceil(share * math.hypot(*shape))


def count_near(boundary: Mask, other: Mask, radius: int) -> int:
    """How many pixels of a boundary have one of the other within `radius`, as the crow flies."""
    rows, columns = np.nonzero(boundary)
    width = boundary.shape[1]
    # Row sums turn "any in this stretch of a row" into two look-ups per pixel.
    sums = np.zeros((other.shape[0] + 2 * radius, width + 1), np.int32)
    np.cumsum(other, axis=1, out=sums[radius : radius + other.shape[0], 1:])
    near = np.zeros(rows.size, np.bool_)
    for shift in range(-radius, radius + 1):
        reach = math.isqrt(radius * radius - shift * shift)
        line = rows + (radius + shift)
        right = np.minimum(columns + (reach + 1), width)
        near |= sums[line, right] != sums[line, np.maximum(columns - reach, 0)]
    return int(np.count_nonzero(near))


def _any_in_window(flags: Mask, rows: int, columns: int) -> Mask:
    """Whether any flag is set in every full window of this size."""
    return _any_in_stretch(_any_in_stretch(flags.T, columns).T, rows)


def _any_in_stretch(flags: Mask, size: int) -> Mask:
    """Whether any of `size` consecutive rows has its flag set, by doubling."""
    reached = 1
    while reached < size:
        step = min(reached, size - reached)
        flags = flags[:-step] | flags[step:]
        reached += step
    return flags


def _check(labels: Labels) -> None:
    if labels.ndim != 2:
        raise MetricError(f"a label map has shape {labels.shape}; height x width expected")
