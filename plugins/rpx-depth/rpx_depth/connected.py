"""Connected pixels of a mask, and their convex hull, in numpy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Labels = NDArray[np.int32]
Indices = NDArray[np.intp]


def label_connected(mask: Mask) -> Labels:
    """The number of its region at each pixel, from 1 in reading order; 0 outside the mask.

    Pixels that share an edge or a corner are connected.
    """
    rows, starts, ends = _runs(mask)
    parents = list(range(len(rows)))
    for upper, lower in _touching(rows, starts, ends):
        a, b = _root(parents, upper), _root(parents, lower)
        parents[max(a, b)] = min(a, b)
    roots = np.array([_root(parents, run) for run in range(len(parents))], np.intp)
    _, numbers = np.unique(roots, return_inverse=True)
    labels = np.zeros(mask.shape, np.int32)
    # Marks where a run begins and ends add up to its number in between.
    width = mask.shape[1]
    steps = np.zeros(mask.size + 1, np.int32)
    np.add.at(steps, rows * width + starts, numbers.astype(np.int32) + 1)
    np.add.at(steps, rows * width + ends, -numbers.astype(np.int32) - 1)
    labels[:] = np.cumsum(steps[:-1]).reshape(mask.shape)
    return labels


def fill_hull(mask: Mask) -> Mask:
    """The pixels of the convex hull of a mask, row by row between its two sides."""
    rows = np.flatnonzero(mask.any(axis=1))
    filled = np.zeros_like(mask)
    if not rows.size:
        return filled
    left = mask[rows].argmax(axis=1)
    right = mask.shape[1] - 1 - mask[rows, ::-1].argmax(axis=1)
    between = np.arange(rows[0], rows[-1] + 1)
    first = np.interp(between, *_lower_hull(rows, left))
    last = -np.interp(between, *_lower_hull(rows, -right))
    columns = np.arange(mask.shape[1])
    filled[between] = (columns >= first[:, None]) & (columns <= last[:, None])
    return filled


def _runs(mask: Mask) -> tuple[Indices, Indices, Indices]:
    """Row, first column and column after the last of each run of pixels, in reading order."""
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    return rows, starts, np.nonzero(edges == -1)[1]


def _touching(rows: Indices, starts: Indices, ends: Indices) -> Sequence[tuple[int, int]]:
    """Pairs of runs in successive rows that share an edge or a corner."""
    first = np.searchsorted(rows, np.arange(rows[-1] + 2)) if rows.size else np.zeros(2, np.intp)
    pairs: list[tuple[int, int]] = []
    for row in range(len(first) - 2):
        above, below = slice(first[row], first[row + 1]), slice(first[row + 1], first[row + 2])
        meets = (starts[above, None] <= ends[None, below]) & (
            starts[None, below] <= ends[above, None]
        )
        upper, lower = np.nonzero(meets)
        pairs += zip((upper + above.start).tolist(), (lower + below.start).tolist(), strict=True)
    return pairs


def _root(parents: list[int], run: int) -> int:
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


def _lower_hull(places: Indices, values: Indices) -> tuple[list[int], list[int]]:
    """The corners of the lower side of the convex hull of points, from the first place on."""
    hull: list[tuple[int, int]] = []
    for x, y in zip(places.tolist(), values.tolist(), strict=True):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (y - y0) > (y1 - y0) * (x - x0):
                break
            hull.pop()
        hull.append((x, y))
    return [x for x, _ in hull], [y for _, y in hull]
