"""What stands out from a table by its colour, and where it touches the table: numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_depth.connected import Labels, Mask, fill_hull, label_connected

_SPREAD = 0.035
"""Chromaticity within which a pixel has the table's colour, in light and in shade."""
_CORE_PX = 2
"""What is nearer than this to another colour does not connect parts of the table."""
_BEHIND = 0.5
"""A region that is along the far edge for this share of the width is a wall behind the table."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Numbered regions, 0 for the rest, and the lowest row of each number but 0."""

    labels: Labels
    lowest: NDArray[np.intp]


def find_standing(rgb: NDArray[np.uint8], smallest: int) -> Standing:
    """The regions of at least so many pixels that stand out from the table.

    The table is the largest connected part that has the median colour of the lower half of the
    image, with what its convex hull encloses. Regions that touch are one.
    """
    table = _has_colour_of_lower_half(rgb)
    parts = label_connected(_erode(table, _CORE_PX))
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    hull = fill_hull(parts == sizes.argmax()) if sizes.any() else np.zeros_like(table)
    labels = label_connected(hull & ~table)
    sizes = np.bincount(labels.ravel())
    columns = np.flatnonzero(hull.any(axis=0))
    far_edge = labels[hull.argmax(axis=0)[columns], columns]
    along_edge = np.bincount(far_edge, minlength=sizes.size)
    kept = (sizes >= smallest) & (along_edge < _BEHIND * rgb.shape[1])
    kept[0] = False
    lowest = np.zeros(sizes.size, np.intp)
    rows, places = np.nonzero(labels)
    np.maximum.at(lowest, labels[rows, places], rows)
    return Standing(np.where(kept[labels], labels, 0).astype(np.int32), lowest)


def _has_colour_of_lower_half(rgb: NDArray[np.uint8]) -> Mask:
    colours = rgb.astype(np.float32) + 1
    # Shares of red, green and blue are the same in light and in shade.
    shares = colours / colours.sum(axis=2, keepdims=True)
    lower = shares[shares.shape[0] // 2 :, ::2].reshape(-1, 3)
    near: Mask = np.abs(shares - np.median(lower, axis=0)).max(axis=2) < _SPREAD
    return near


def _erode(mask: Mask, radius: int) -> Mask:
    """The pixels whose square neighbourhood lies in the mask, beyond the image too."""
    for axis in (0, 1):
        edge = np.pad(mask, [(radius, radius) if axis == a else (0, 0) for a in (0, 1)])
        windows = np.lib.stride_tricks.sliding_window_view(edge, 2 * radius + 1, axis=axis)
        mask = np.asarray(windows.all(axis=-1))
    return mask
