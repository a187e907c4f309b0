"""Blobs of one colour on a table: the objects that the threshold baselines find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_seg.table_colours import WORDS, Mask, Words

_CLOSING = 3
_FILLED = 0.25
"""A blob fills this share of its box at least."""
_STANDING = 0.4
"""Below a blob, this share of its width is table at least."""
_BELOW = slice(1, 4)
_TOP_ROW = 1


@dataclass(frozen=True, eq=False)
class StandingBlob:
    """Connected pixels of one colour word, holes filled: their box, mask inside it, and word."""

    rows: slice
    columns: slice
    mask: NDArray[np.bool_]
    word: int

    @property
    def pixels(self) -> int:
        """Area in pixels."""
        return int(np.count_nonzero(self.mask))

    @property
    def filled(self) -> float:
        """Share of the box that is filled."""
        return self.pixels / self.mask.size

    @property
    def tallness(self) -> float:
        """Height of the box over its width."""
        height, width = self.mask.shape
        return float(height / width)


def find_standing_blobs(words: Words, table: Mask, min_pixels: int) -> list[StandingBlob]:
    """Compact blobs that stand on the table, colour by colour, each from left to right."""
    found = []
    for word in range(1, len(WORDS) + 1):
        own = (words == word) & ~table
        if np.count_nonzero(own) < min_pixels:
            continue
        blobs = [
            blob
            for blob in _connected(_close(own) & ~table, word)
            if blob.pixels >= min_pixels and blob.filled >= _FILLED and _stands(blob, table)
        ]
        found += sorted(blobs, key=lambda blob: blob.columns.start)
    return found


def _close(mask: Mask) -> Mask:
    """Fill gaps of up to two pixels."""
    from scipy.ndimage import maximum_filter, minimum_filter

    grown = maximum_filter(mask.view(np.uint8), _CLOSING)
    closed: Mask = minimum_filter(grown, _CLOSING).astype(np.bool_)
    return closed


def _connected(mask: Mask, word: int) -> Iterator[StandingBlob]:
    from scipy.ndimage import binary_fill_holes, find_objects, label

    labels, _ = label(mask)
    for number, (rows, columns) in enumerate(find_objects(labels), start=1):
        own = labels[rows, columns] == number
        yield StandingBlob(rows, columns, binary_fill_holes(own), word)


def _stands(blob: StandingBlob, table: Mask) -> bool:
    """Whether there is table below the blob, or the image ends there; not at its top."""
    if blob.rows.start <= _TOP_ROW:
        return False
    bottom = blob.rows.stop
    below = table[bottom + _BELOW.start : bottom + _BELOW.stop, blob.columns]
    return not below.size or bool(below.mean() >= _STANDING)
