"""One-to-one assignment of overlapping boxes, frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_detection.tracking.clip import Clip, Flags, Floats, Ints, Overlaps


def assign(clip: Clip, pairs: Overlaps, weight: Floats) -> Ints:
    """Indices into `pairs` of the one-to-one assignment of largest total weight in every frame.

    Weights are positive. Where no box overlaps two others all pairs are taken, so that only frames
    with a conflict are left to the solver.
    """
    contested = Contested(clip, pairs)
    taken = contested.elsewhere()
    for frame, part in contested:
        taken[part] = assign_frame(clip, frame, pairs.select(part), weight[part])
    return np.flatnonzero(taken)


class Contested:
    """The frames in which a box of one side overlaps two of the other, in order.

    Yields each with the slice of its pairs.
    """

    def __init__(self, clip: Clip, pairs: Overlaps) -> None:
        truth = np.bincount(pairs.truth, minlength=len(clip.truth))
        prediction = np.bincount(pairs.prediction, minlength=len(clip.prediction))
        alone = (truth[pairs.truth] == 1) & (prediction[pairs.prediction] == 1)
        self._frame = clip.truth.frame[pairs.truth]
        self._contested = np.zeros(clip.frames, np.bool_)
        self._contested[self._frame[~alone]] = True

    def elsewhere(self) -> Flags:
        """(m,) which pairs are in other frames: all of them are matches, whatever their weight."""
        return ~self._contested[self._frame]

    def __iter__(self) -> Iterator[tuple[int, slice]]:
        frames = np.flatnonzero(self._contested)
        starts, ends = np.searchsorted(self._frame, (frames, frames + 1))
        for frame, start, end in zip(frames.tolist(), starts.tolist(), ends.tolist(), strict=True):
            yield frame, slice(start, end)


def assign_frame(clip: Clip, frame: int, pairs: Overlaps, weight: Floats) -> Flags:
    """(m,) which pairs of one frame are in the assignment of largest total weight."""
    top, left = clip.truth_starts[frame], clip.prediction_starts[frame]
    # All boxes of the frame: which of two equally good assignments is found depends on the matrix.
    height, width = clip.truth_starts[frame + 1] - top, clip.prediction_starts[frame + 1] - left
    rows, columns = pairs.truth - top, pairs.prediction - left
    table = np.zeros((height, width))
    table[rows, columns] = weight
    partner = np.full(height, -1)
    matched, partners = solve(table)
    partner[matched] = partners
    chosen: Flags = partner[rows] == columns
    return chosen


def solve(weight: NDArray[Any]) -> tuple[Ints, Ints]:
    """Rows and columns of the one-to-one assignment of largest total weight in a table (n, m)."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(weight, maximize=True)
    return rows, columns
