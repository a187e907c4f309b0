"""Predicted matches against true ones: what each true point got, and what each match is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_pose.neighbours import Neighbours, find_neighbours

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

GATE_PX = 3.0
_FIRST_RADIUS = 4.0
"""Pixels within which the nearest match is looked for first."""


@dataclass(frozen=True, eq=False)
class TrueMatches:
    """Points (n, 2) in both images, in pixels, and which (n,) are seen in both."""

    points0: Floats
    points1: Floats
    visible: Mask


@dataclass(frozen=True, eq=False)
class Judgement:
    """Errors in pixels: `recalled` of each visible true point, `errors` (m,) of each match.

    Infinite for a true point without a match, and for a match of a point that is not visible.
    `is_judged` (m,) says which matches start near a true point; the others have no error.
    """

    recalled: Floats
    errors: Floats
    is_judged: Mask


def judge_matches(
    truth: TrueMatches, points0: Floats, points1: Floats, *, gate: float
) -> Judgement:
    """Compare matches (m, 2), (m, 2) with the true points near which they start.

    A match can only tell of true points within `gate` pixels of its own start. Its error is
    |(p1 - p0) - (g1 - g0)|, how far its displacement is from the true one: a start beside the
    true point costs nothing. Recall: matches and true points are paired one to one, nearest
    first. Precision: each match is judged by the nearest true point, visible or not; a match that
    starts near none is not judged.
    """
    near = find_neighbours(truth.points0, points0, gate)
    shift = (points1 - points0)[near.second] - (truth.points1 - truth.points0)[near.first]
    # Where a true point is hidden, its position in the second image may be unknown: NaN.
    error = np.where(truth.visible[near.first], np.linalg.norm(shift, axis=1), np.inf)
    order = _nearest_first(truth, points0, points1, near)
    recalled = np.full(len(truth.points0), np.inf)
    chosen = order[_pair_up(near.first[order], near.second[order], truth.visible)]
    recalled[near.first[chosen]] = error[chosen]
    judged, nearest = np.unique(near.second[order], return_index=True)
    errors, is_judged = np.zeros(len(points0)), np.zeros(len(points0), bool)
    errors[judged], is_judged[judged] = error[order[nearest]], True
    return Judgement(recalled[truth.visible], errors, is_judged)


def published_errors(truth: TrueMatches, points0: Floats, points1: Floats) -> Floats:
    """|p1 - g1| of the match that starts nearest to each visible true point, however far away.

    Infinite without matches; the first of equally near ones counts.
    """
    starts, ends = truth.points0[truth.visible], truth.points1[truth.visible]
    errors = np.full(len(starts), np.inf)
    if not len(points0):
        return errors
    waiting, radius = np.arange(len(starts)), _FIRST_RADIUS
    while waiting.size:
        near = find_neighbours(starts[waiting], points0, radius)
        order = np.lexsort((near.second, near.distance, near.first))
        found, nearest = np.unique(near.first[order], return_index=True)
        chosen = near.second[order[nearest]]
        errors[waiting[found]] = np.linalg.norm(points1[chosen] - ends[waiting[found]], axis=1)
        waiting, radius = np.delete(waiting, found), 4 * radius
    return errors


def _nearest_first(
    truth: TrueMatches, points0: Floats, points1: Floats, near: Neighbours
) -> Indices:
    """Nearest pairs first; ties by coordinates, so the order of the input never shows."""
    columns = (
        near.distance,
        *truth.points0[near.first].T,
        # Points listed twice differ in these: a visible one comes first.
        ~truth.visible[near.first],
        *truth.points1[near.first].T,
        *points0[near.second].T,
        *points1[near.second].T,
    )
    return np.lexsort(columns[::-1])


def _pair_up(true: Indices, match: Indices, visible: Mask) -> list[int]:
    """Positions of the pairs that a greedy one-to-one pairing keeps, in the order given."""
    taken_true, taken_match = set[int](), set[int]()
    kept = []
    for position, (i, j) in enumerate(zip(true.tolist(), match.tolist(), strict=True)):
        if visible[i] and i not in taken_true and j not in taken_match:
            taken_true.add(i)
            taken_match.add(j)
            kept.append(position)
    return kept
