"""Greedy matching of detections with objects, for many images, size ranges and thresholds at once.

The rule is COCO's: from the highest score down, a detection takes, of the objects of its image
and class that no other took, the one it overlaps most (the later one where overlaps are equal),
if that reaches the threshold. Objects that count are preferred to ignored ones; a crowd may be
taken any number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rpx_core.ranking.criteria import ALMOST_ONE

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Matchable:
    """Detections or objects in the order in which they are matched, in cells: one image, one class.

    `cells` (N,) is non-decreasing; `out` (ranges, N) marks what does not count in a size range.
    """

    cells: Indices
    out: Flags


@dataclass(frozen=True, eq=False)
class Pairs:
    """Detections and objects of one cell, by their places there, and how much they overlap."""

    detections: Indices
    objects: Indices
    overlaps: Floats


Overlap = Callable[[Indices, Indices], Floats]
"""How much detections overlap objects, both given by their rows, pair by pair: the IoU.

With a crowd, which is no object, it is the share of the detection that lies in it.
"""

MAX_PAIRS = 1 << 22
"""Pairs that are looked at together: crowded images have many, of which few overlap."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Of each detection, by size range and threshold (ranges, thresholds, N): hit, and not counted.

    A detection that is neither is a false alarm.
    """

    hits: Flags
    ignored: Flags


@dataclass(frozen=True, eq=False)
class _Candidates(Pairs):
    """Pairs that overlap enough for the lowest threshold, in the order in which they compete.

    `turns` are bounds between pairs of detections that come first, second, ... in their cell.
    """

    turns: Indices


def pair_up(detections: Indices, objects: Indices) -> tuple[Indices, Indices]:
    """Every detection with every object of its cell, in order of the detections; both by place.

    Cells are non-decreasing.
    """
    start = np.searchsorted(objects, detections, "left")
    counts = np.searchsorted(objects, detections, "right") - start
    first = np.repeat(np.arange(len(detections)), counts)
    ends = np.cumsum(counts)
    second = np.arange(len(first)) + np.repeat(start - ends + counts, counts)
    return first, second


def overlapping_pairs(
    detections: Indices, objects: Indices, overlap: Overlap, lowest: float
) -> Pairs:
    """The pairs of `pair_up` that overlap by `lowest` at least, in their order.

    They are looked at a block at a time, so memory is for pairs that overlap, not for all.
    """
    reach = np.searchsorted(objects, detections, "right") - np.searchsorted(objects, detections)
    blocks = np.cumsum(reach) // MAX_PAIRS
    found: list[tuple[Indices, Indices, Floats]] = []
    for start, end in pairwise([*np.searchsorted(blocks, np.unique(blocks)), len(detections)]):
        first, second = pair_up(detections[start:end], objects)
        first += start
        overlaps = overlap(first, second)
        enough = overlaps >= lowest
        found.append((first[enough], second[enough], overlaps[enough]))
    if not found:
        none = np.zeros(0, np.intp)
        return Pairs(none, none, np.zeros(0))
    return Pairs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def lowest_limit(thresholds: tuple[float, ...]) -> float:
    """The overlap from which a pair can match at all."""
    return float(np.minimum(thresholds, ALMOST_ONE).min())


def match(
    detections: Matchable,
    objects: Matchable,
    crowds: Flags,
    pairs: Pairs,
    thresholds: tuple[float, ...],
) -> Matches:
    """Match every cell at once; what `out` marks of an unmatched detection leaves it uncounted.

    `crowds` (objects,) may be taken more than once. Pairs that are not listed do not overlap.
    """
    limits = np.minimum(thresholds, ALMOST_ONE)
    shape = (len(objects.out), len(limits), len(detections.cells))
    hits = np.zeros(shape, np.bool_)
    ignored = np.repeat(detections.out[:, None], len(limits), axis=1)
    taken = np.zeros((*shape[:2], len(objects.cells)), np.bool_)
    candidates = _order_candidates(pairs, detections.cells, lowest_limit(thresholds))
    for part in _turns(candidates):
        wanted = candidates.objects[part]
        counted = ~objects.out.take(wanted, axis=1)
        free = ~taken.take(wanted, axis=2) | crowds[wanted]
        eligible = free & (candidates.overlaps[part] >= limits[:, None])
        # Pairs of a detection are sorted by overlap, so its best one has the highest place.
        places = np.arange(len(wanted)) + len(wanted) * counted
        choices = np.where(eligible, places[:, None], -1)
        found, starts = np.unique(candidates.detections[part], return_index=True)
        best = np.maximum.reduceat(choices, starts, axis=2)
        size, limit, detection = np.nonzero(best >= 0)
        chosen = best[size, limit, detection] % len(wanted)
        taken[size, limit, wanted[chosen]] = True
        hits[size, limit, found[detection]] = counted[size, chosen]
        ignored[size, limit, found[detection]] = ~counted[size, chosen]
    return Matches(hits, ignored)


def _turns(candidates: _Candidates) -> Iterator[slice]:
    return (slice(start, end) for start, end in pairwise(candidates.turns.tolist()))


def _order_candidates(pairs: Pairs, cells: Indices, lowest: float) -> _Candidates:
    enough = pairs.overlaps >= lowest
    first, second = pairs.detections[enough], pairs.objects[enough]
    overlaps = pairs.overlaps[enough]
    turns = _turn_of(first, cells)
    order = np.lexsort((second, overlaps, first, turns))
    bounds = np.searchsorted(turns[order], np.arange(turns.max(initial=-1) + 2))
    return _Candidates(first[order], second[order], overlaps[order], bounds)


def _turn_of(detections: Indices, cells: Indices) -> Indices:
    """How many candidates of its cell come before each detection.

    Detections without candidates change nothing, so they take no turn.
    """
    distinct, inverse = np.unique(detections, return_inverse=True)
    own = cells[distinct]
    turns = np.arange(len(distinct)) - np.searchsorted(own, own, "left")
    return np.asarray(turns[inverse])
