"""A sequence as arrays: the boxes of truth and prediction, and the pairs of them that overlap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

EPSILON = float(np.finfo(np.float64).eps)
"""An overlap that misses a threshold by rounding alone still reaches it."""

_BLOCK = 1 << 18
"""Pairs compared at a time: few enough for the processor's cache."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """The boxes of one side, truth or prediction, of a sequence; frames ascend.

    `frame` (n,) counts from 0, `identity` (n,) is the number of the box's track, 0 to `count` - 1,
    and `box` (n, 4) holds half-open `xyxy` pixels. No track has two boxes in a frame.
    """

    frame: Ints
    identity: Ints
    box: Floats
    count: int

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def lengths(self) -> Ints:
        """(count,) boxes of each track."""
        return np.bincount(self.identity, minlength=self.count)

    @cached_property
    def areas(self) -> Floats:
        """(n,) square pixels of each box."""
        return np.asarray((self.box[:, 2] - self.box[:, 0]) * (self.box[:, 3] - self.box[:, 1]))

    def starts(self, frames: int) -> Ints:
        """(frames + 1,) row of the first box of each frame, and the end."""
        return np.searchsorted(self.frame, np.arange(frames + 1))

    def select(self, kept: Flags) -> Tracks:
        """The boxes that are kept, their tracks numbered anew."""
        names, identity = np.unique(self.identity[kept], return_inverse=True)
        return Tracks(self.frame[kept], identity, self.box[kept], len(names))


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Pairs of a truth and a predicted box of one frame that overlap; truth rows ascend.

    `truth` and `prediction` (m,) are rows of the two sides, `iou` (m,) is above 0.
    """

    truth: Ints
    prediction: Ints
    iou: Floats

    def __len__(self) -> int:
        return len(self.iou)

    def select(self, kept: Flags | Ints | slice) -> Overlaps:
        """The pairs that are kept."""
        return Overlaps(self.truth[kept], self.prediction[kept], self.iou[kept])


@dataclass(frozen=True, eq=False)
class Clip:
    """One sequence of `frames` frames, some of which may hold no box of either side."""

    frames: int
    truth: Tracks
    prediction: Tracks
    overlaps: Overlaps

    @cached_property
    def truth_starts(self) -> Ints:
        """(frames + 1,) row of the first truth box of each frame, and the end."""
        return self.truth.starts(self.frames)

    @cached_property
    def prediction_starts(self) -> Ints:
        """(frames + 1,) row of the first predicted box of each frame, and the end."""
        return self.prediction.starts(self.frames)


@dataclass(frozen=True, eq=False)
class Intersections:
    """Pairs of boxes of one frame that intersect: rows of the two sides, and the area (m,)."""

    first: Ints
    second: Ints
    area: Floats


def make_clip(frames: int, truth: Tracks, prediction: Tracks) -> Clip:
    """A sequence with all its overlaps."""
    found = intersect(frames, truth, prediction)
    a, b = found.first, found.second
    union = truth.areas[a] + prediction.areas[b] - found.area
    return Clip(frames, truth, prediction, Overlaps(a, b, found.area / union))


def intersect(frames: int, first: Tracks, second: Tracks) -> Intersections:
    """All pairs of boxes of the same frame that intersect; memory is bounded by their number."""
    starts = first.starts(frames), second.starts(frames)
    pairs = np.diff(starts[0]) * np.diff(starts[1])
    cuts = np.flatnonzero(np.diff(np.cumsum(pairs) // _BLOCK)) + 1
    bounds = [0, *cuts.tolist(), frames]
    sides = np.ascontiguousarray(first.box.T), np.ascontiguousarray(second.box.T)
    found = [
        _intersect_block(sides, (starts[0][start : end + 1], starts[1][start : end + 1]))
        for start, end in pairwise(bounds)
    ]
    return Intersections(
        np.concatenate([block.first for block in found]),
        np.concatenate([block.second for block in found]),
        np.concatenate([block.area for block in found]),
    )


def _intersect_block(sides: tuple[Floats, Floats], starts: tuple[Ints, Ints]) -> Intersections:
    """Pairs of some frames; sides are (4, n), starts the rows where the frames begin, and end."""
    g, p = sides
    firsts, seconds = starts
    # Every box of the first side meets all boxes of the second in its frame.
    partners = np.repeat(np.diff(seconds), np.diff(firsts))
    a = np.repeat(np.arange(firsts[0], firsts[-1]), partners)
    offset = np.repeat(seconds[:-1], np.diff(firsts)) - (np.cumsum(partners) - partners)
    b = np.arange(len(a)) + np.repeat(offset, partners)
    # Most pairs lie apart in x: what is cheap to see goes first.
    width = np.minimum(g[2][a], p[2][b]) - np.maximum(g[0][a], p[0][b])
    near = np.flatnonzero(width > 0)
    a, b, width = a[near], b[near], width[near]
    height = np.minimum(g[3][a], p[3][b]) - np.maximum(g[1][a], p[1][b])
    near = np.flatnonzero(height > 0)
    return Intersections(a[near], b[near], width[near] * height[near])
