"""Which predicted point answers which point of the query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_depth.points import Points
from rpx_depth.types import SparseDepthPrediction

MATCH_RADIUS_PX = 2.0
"""How far a predicted point may lie from the point that it answers, as published."""

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _NearPairs:
    """Pairs of a point and a predicted point within the radius, as parallel arrays."""

    point: Indices
    predicted: Indices
    distance: NDArray[np.float64]

    def take(self, chosen: Indices) -> _NearPairs:
        return _NearPairs(self.point[chosen], self.predicted[chosen], self.distance[chosen])


def match_points(points: Points, prediction: SparseDepthPrediction) -> Indices:
    """For each point the index of the predicted point that answers it, -1 for none.

    Depths predicted at exactly these points, in this order, answer one by one. Else each predicted
    point answers the point nearest to it, within 2 px, and a point takes the nearest of those: one
    to one, so a point left out of a prediction has no answer, however close its neighbours are.
    """
    if np.array_equal(points, prediction.coordinates):
        return np.arange(len(points))
    near = _near_pairs(points, prediction)
    # Of equally near points the first listed.
    order = np.lexsort((near.point, near.distance, near.predicted))
    own = near.take(order[_first_of_each(near.predicted[order])])
    return _nearest(len(points), own, prediction)


def matched_depths(points: Points, prediction: SparseDepthPrediction) -> NDArray[np.float64]:
    """The predicted depth (N,) at each point by `match_points`, NaN where there is none."""
    return _read(prediction.depths, match_points(points, prediction))


def nearest_depths(points: Points, prediction: SparseDepthPrediction) -> NDArray[np.float64]:
    """The depth (N,) predicted nearest to each point within 2 px, NaN where there is none.

    The published rule: a predicted point may answer several, also ones left out on purpose.
    """
    if np.array_equal(points, prediction.coordinates):
        return prediction.depths.copy()
    near = _near_pairs(points, prediction)
    return _read(prediction.depths, _nearest(len(points), near, prediction))


def _near_pairs(points: Points, prediction: SparseDepthPrediction) -> _NearPairs:
    order = np.argsort(prediction.coordinates[:, 0], kind="stable")
    predicted = prediction.coordinates[order]
    # Only predicted points in a strip of columns around a point can be near enough.
    starts = np.searchsorted(predicted[:, 0], points[:, 0] - MATCH_RADIUS_PX, side="left")
    ends = np.searchsorted(predicted[:, 0], points[:, 0] + MATCH_RADIUS_PX, side="right")
    found = [(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))]
    for index in np.flatnonzero(ends > starts):
        strip = slice(starts[index], ends[index])
        distance = np.hypot(*(predicted[strip] - points[index]).T)
        near = np.flatnonzero(distance <= MATCH_RADIUS_PX)
        found.append((np.full(near.size, index), order[strip][near], distance[near]))
    return _NearPairs(*(np.concatenate(side) for side in zip(*found, strict=True)))


def _nearest(count: int, near: _NearPairs, prediction: SparseDepthPrediction) -> Indices:
    """The nearest predicted point of each point; of equally near ones the first by x, y, depth."""
    x, y = prediction.coordinates[near.predicted].T
    order = np.lexsort((prediction.depths[near.predicted], y, x, near.distance, near.point))
    best = near.take(order[_first_of_each(near.point[order])])
    chosen = np.full(count, -1, np.intp)
    chosen[best.point] = best.predicted
    return chosen


def _first_of_each(sorted_keys: Indices) -> Indices:
    return np.unique(sorted_keys, return_index=True)[1]


def _read(depths: NDArray[np.float64], indices: Indices) -> NDArray[np.float64]:
    read = np.full(len(indices), np.nan)
    answered = indices >= 0
    read[answered] = depths[indices[answered]]
    return read
