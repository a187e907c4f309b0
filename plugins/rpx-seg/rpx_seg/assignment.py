"""The best one-to-one assignment of predicted to true segments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_seg.overlaps import SegmentOverlaps


def assign(overlaps: SegmentOverlaps) -> NDArray[np.intp]:
    """Which overlapping pairs an assignment with the largest sum of IoU uses, as their positions.

    Each segment is used at most once. Among equally good assignments the choice is fixed, but not
    specified; the sum is the same.
    """
    rows, columns = overlaps.rows, overlaps.columns
    alone = _occurs_once(rows) & _occurs_once(columns)
    contested = np.flatnonzero(~alone)
    if not contested.size:
        return np.flatnonzero(alone)
    # Only segments that compete for each other need the solver: mostly few.
    row_of, r = np.unique(rows[contested], return_inverse=True)
    column_of, c = np.unique(columns[contested], return_inverse=True)
    gain = np.zeros((row_of.size, column_of.size))
    pair = np.full(gain.shape, -1, np.intp)
    gain[r, c] = overlaps.iou()[contested]
    pair[r, c] = contested
    chosen = pair[_solve(gain)]
    return np.sort(np.concatenate([np.flatnonzero(alone), chosen[chosen >= 0]]))


def _occurs_once(positions: NDArray[np.int64]) -> NDArray[np.bool_]:
    counts = np.bincount(positions) if positions.size else np.zeros(0, np.intp)
    once: NDArray[np.bool_] = counts[positions] == 1
    return once


def _solve(gain: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gain, maximize=True)
    return rows, columns
