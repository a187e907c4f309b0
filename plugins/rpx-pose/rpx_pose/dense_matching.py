"""Matches from maps of features: mutual nearest neighbours, finer than the cells of the maps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Features = NDArray[np.float32]

_ROWS_AT_ONCE = 1024
"""Similarities of this many points with a whole map are held in memory at a time."""
_NEAR = 1.5
"""Cells between a point and where its match leads back to; one more than rounding can cost."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Features (cells, channels) of unit length, of `rows` x `columns` cells over an image.

    `shape` is the image's height and width in pixels; pixel centres are at whole numbers.
    """

    features: Features
    rows: int
    columns: int
    shape: tuple[int, int]

    @classmethod
    def from_array(cls, values: NDArray[np.float32], shape: tuple[int, int]) -> FeatureMap:
        """From an array (channels, rows, columns)."""
        channels, rows, columns = values.shape
        return cls(_unit(values.reshape(channels, -1).T), rows, columns, shape)

    def centres(self) -> Floats:
        """The pixel (x, y) in the middle of each cell, row by row."""
        rows, columns = np.divmod(np.arange(self.rows * self.columns), self.columns)
        return self.to_pixels(np.stack([columns, rows], axis=1).astype(np.float64))

    def to_pixels(self, cells: Floats) -> Floats:
        """Pixels (x, y) of places (column, row) in the map; cell centres are at whole numbers."""
        return (cells + 0.5) * self._cell() - 0.5

    def to_cells(self, pixels: Floats) -> Floats:
        """The way back, kept inside the map."""
        cells = (pixels + 0.5) / self._cell() - 0.5
        return np.clip(cells, 0, [self.columns - 1, self.rows - 1])

    def at(self, pixels: Floats) -> Features:
        """Features (n, channels) between the cells, bilinear and of unit length."""
        cells = self.to_cells(pixels)
        corner = np.minimum(cells.astype(np.intp), np.maximum(self._last() - 1, 0))
        weight = (cells - corner).astype(np.float32)
        mixed = np.zeros((len(pixels), self.features.shape[1]), np.float32)
        for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
            column, row = np.minimum(corner + np.array([dx, dy]), self._last()).T
            share = np.abs(1 - dx - weight[:, 0]) * np.abs(1 - dy - weight[:, 1])
            mixed += share[:, None] * self.features[row * self.columns + column]
        return _unit(mixed)

    def _cell(self) -> Floats:
        """Width and height of a cell in pixels."""
        height, width = self.shape
        return np.array([width / self.columns, height / self.rows])

    def _last(self) -> NDArray[np.intp]:
        return np.array([self.columns - 1, self.rows - 1])


def match_points(
    first: FeatureMap, second: FeatureMap, points: Floats
) -> tuple[Floats, Floats, Floats]:
    """Those of the points (n, 2) that are found in the second image, where, and how sure.

    A point's match is the cell of the second map whose feature is most similar (cosine), moved to
    the top of a parabola through the similarities of its neighbours, along each axis. It counts
    if the cell's own best match in the first map lies at the point. Scores are cosines.
    """
    found, scores, is_mutual = [np.zeros((0, 2))], [np.zeros(0)], [np.zeros(0, bool)]
    for start in range(0, len(points), _ROWS_AT_ONCE):
        part = points[start : start + _ROWS_AT_ONCE]
        similarity = first.at(part) @ second.features.T
        best = similarity.argmax(axis=1)
        found.append(second.to_pixels(_refine(similarity, best, second)))
        scores.append(similarity[np.arange(len(part)), best].astype(np.float64))
        is_mutual.append(_leads_back(first, second.features[best], part))
    kept = np.concatenate(is_mutual)
    return points[kept], np.concatenate(found)[kept], np.concatenate(scores)[kept]


def _leads_back(first: FeatureMap, features: Features, points: Floats) -> NDArray[np.bool_]:
    back = (features @ first.features.T).argmax(axis=1)
    rows, columns = np.divmod(back, first.columns)
    away = np.abs(np.stack([columns, rows], axis=1) - first.to_cells(points))
    near = (away <= _NEAR).all(axis=1)
    return np.asarray(near)


def _refine(similarity: Features, best: NDArray[np.intp], second: FeatureMap) -> Floats:
    """Places (column, row) of the maxima, between the cells."""
    rows, columns = np.divmod(best, second.columns)
    refined = np.stack([columns, rows], axis=1).astype(np.float64)
    for axis, step, place, size in (
        (0, 1, columns, second.columns),
        (1, second.columns, rows, second.rows),
    ):
        inside = np.flatnonzero((place > 0) & (place < size - 1))
        at = best[inside]
        left, middle, right = (
            similarity[inside, at + shift].astype(np.float64) for shift in (-step, 0, step)
        )
        bend = left - 2 * middle + right
        # Flat, where neighbours are equally similar: the middle is as good as any place.
        offset = np.divide(left - right, 2 * bend, out=np.zeros_like(bend), where=bend < 0)
        refined[inside, axis] += np.clip(offset, -0.5, 0.5)
    return refined


def _unit(features: NDArray[np.float32]) -> Features:
    """Rows of unit length; one without any length stays 0 and is similar to nothing."""
    length = np.linalg.norm(features, axis=1, keepdims=True)
    unit: Features = np.divide(features, length, out=np.zeros_like(features), where=length > 0)
    return unit
