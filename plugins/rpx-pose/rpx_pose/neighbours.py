"""All pairs of points from two sets that lie within a radius of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pairs: `first` and `second` (k,) index the two sets, `distance` (k,) is between them."""

    first: Indices
    second: Indices
    distance: Floats


def find_neighbours(first: Floats, second: Floats, radius: float) -> Neighbours:
    """Every pair of points (n, 2) and (m, 2) at most `radius` apart, in order of `first`.

    The second set is sorted into square cells of that size, so only nine of them are looked at.
    """
    if not len(first):
        return _none()
    low, high = first.min(axis=0) - radius, first.max(axis=0) + radius
    # What lies outside has no partner, and its cell might have no number.
    kept = np.flatnonzero(((second >= low) & (second <= high)).all(axis=1))
    if not kept.size:
        return _none()
    columns, rows = np.floor((second[kept] - low) / radius).astype(np.int64).T
    wanted_columns, wanted_rows = np.floor((first - low) / radius).astype(np.int64).T
    width = int(np.ceil((high - low)[0] / radius)) + 3
    cells = rows * width + columns
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    found_first, found_second = [], []
    for row in (-1, 0, 1):
        # Three cells of a row are neighbours in the numbering too: one range holds them.
        middle = (wanted_rows + row) * width + wanted_columns
        start = np.searchsorted(ordered, middle - 1, side="left")
        count = np.searchsorted(ordered, middle + 1, side="right") - start
        found_first.append(np.repeat(np.arange(len(first)), count))
        found_second.append(kept[order[_ranges(start, count)]])
    i, j = np.concatenate(found_first), np.concatenate(found_second)
    distance = np.linalg.norm(first[i] - second[j], axis=1)
    within = np.flatnonzero(distance <= radius)
    within = within[np.argsort(i[within], kind="stable")]
    return Neighbours(i[within], j[within], distance[within])


def _none() -> Neighbours:
    return Neighbours(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))


def _ranges(start: Indices, count: Indices) -> Indices:
    """start[0], start[0] + 1, ... for count[0] numbers, then the same for the next."""
    ends = np.cumsum(count)
    return np.asarray(np.arange(ends[-1]) + np.repeat(start - (ends - count), count))
