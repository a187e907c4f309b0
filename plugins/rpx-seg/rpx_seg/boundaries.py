"""Bands along the boundaries of label maps, and how far apart boundaries may lie."""

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


def boundary_band(labels: Labels, share: float = BAND) -> Labels:
    """The label map with 0 for what lies deeper than the band inside its segment.

    The band holds pixels that have another label, or the outside of the image, within `share` of
    the image diagonal, rounded and at least 1 pixel, along either axis. Void stays as it is.
    """
    if labels.ndim != 2:
        raise MetricError(f"a label map has shape {labels.shape}; height x width expected")
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
