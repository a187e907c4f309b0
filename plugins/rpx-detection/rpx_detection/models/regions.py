"""Regions of one colour: connected pixels, joined across the gaps that prints and labels leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_detection.models.strong_colours import Codes

SPECK = 4
"""Components of fewer pixels are part of nothing."""
MOST = 300
"""Components that are looked at, the largest first: noise has thousands."""


@dataclass(frozen=True)
class Region:
    """A colour code, the half-open box around its pixels, and how many there are."""

    code: int
    box: tuple[int, int, int, int]
    pixels: int

    def is_near(self, other: Region, gap: int) -> bool:
        """Whether at most `gap` pixels lie between the boxes."""
        (left, top, right, bottom), (x0, y0, x1, y1) = self.box, other.box
        across = x0 < right + gap and left < x1 + gap
        return across and y0 < bottom + gap and top < y1 + gap

    def covers(self, other: Region) -> bool:
        """Whether more than half of the other's box lies in this one's."""
        (left, top, right, bottom), (x0, y0, x1, y1) = self.box, other.box
        width, height = min(right, x1) - max(left, x0), min(bottom, y1) - max(top, y0)
        return width > 0 and height > 0 and 2 * width * height > (x1 - x0) * (y1 - y0)

    def join(self, other: Region) -> Region:
        """The region of both."""
        (left, top, right, bottom), (x0, y0, x1, y1) = self.box, other.box
        box = (min(left, x0), min(top, y0), max(right, x1), max(bottom, y1))
        return Region(self.code, box, self.pixels + other.pixels)


def find_regions(codes: Codes, gap: int) -> list[Region]:
    """Regions of every colour but 0, the largest first."""
    regions = sorted(_components(codes), key=lambda region: (-region.pixels, region.box))[:MOST]
    count = -1
    while count != len(regions):
        count = len(regions)
        joined: list[Region] = []
        for region in regions:
            for place, other in enumerate(joined):
                if other.code == region.code and other.is_near(region, gap):
                    joined[place] = other.join(region)
                    break
            else:
                joined.append(region)
        regions = sorted(joined, key=lambda region: (-region.pixels, region.box))
    return regions


def _components(codes: Codes) -> list[Region]:
    """Connected pixels of equal code, specks left out."""
    rows, columns = np.nonzero(codes)
    if not len(rows):
        return []
    labels = _label(codes, len(rows))
    order = np.argsort(labels, kind="stable")
    _, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    corners = [
        np.minimum.reduceat(columns[order], starts),
        np.minimum.reduceat(rows[order], starts),
        np.maximum.reduceat(columns[order], starts) + 1,
        np.maximum.reduceat(rows[order], starts) + 1,
    ]
    own = codes[rows, columns][order[starts]]
    return [
        Region(code, (x0, y0, x1, y1), size)
        for code, size, x0, y0, x1, y1 in np.stack([own, sizes, *corners], axis=1).tolist()
        if size >= SPECK
    ]


def _label(codes: Codes, count: int) -> NDArray[np.intp]:
    """The lowest number of the pixels that each marked pixel is connected with.

    Pixels are numbered in reading order; neighbours keep pointing to the lower one of their roots
    until all agree.
    """
    numbers = np.zeros(codes.shape, np.intp)
    marked = codes > 0
    numbers[marked] = np.arange(count)
    beside = (codes[:, 1:] == codes[:, :-1]) & marked[:, 1:]
    below = (codes[1:] == codes[:-1]) & marked[1:]
    first = np.concatenate([numbers[:, :-1][beside], numbers[:-1][below]])
    second = np.concatenate([numbers[:, 1:][beside], numbers[1:][below]])
    roots = np.arange(count)
    while len(first):
        one, other = roots[first], roots[second]
        apart = one != other
        first, second, one, other = (side[apart] for side in (first, second, one, other))
        np.minimum.at(roots, np.maximum(one, other), np.minimum(one, other))
        while (further := roots[roots]).tobytes() != roots.tobytes():
            roots = further
    return roots
