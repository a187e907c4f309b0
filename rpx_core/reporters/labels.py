"""Where to write short labels beside points so that nothing covers anything, in percent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

Place = tuple[float, float]

LABEL = (6.5, 6.0)
"""Width and height of a two-digit label in a chart some 240 pixels wide and 270 high."""
DOT = (4.4, 3.9)
_NEAR = ((-1, -1), (1, 1), (-1, 1), (1, -1), (0, -1.4), (0, 1.4), (-1.4, 0), (1.4, 0))
"""Directions to try, the best first: the edge of a front runs right and down from its points."""
_STEP = (4.6, 5.0)
_RINGS = (1.0, 1.9, 2.8)
_LINE_WEIGHT = 0.05
"""What one sampled place of a line counts beside what covers a label whole."""


def place_labels(points: Sequence[Place], line: Sequence[Place] = ()) -> list[Place]:
    """The middle of each point's label, in the same order: close by, off all points and labels.

    Where every place is taken, the least covered one is used. `line` has the corners of a polyline
    that labels had better not lie on.
    """
    drawn = _sampled(line)
    placed: list[Place] = []
    for point in points:
        ways = [_moved(point, way, ring) for ring, way in product(_RINGS, _NEAR)]
        inside = [way for way in ways if all(2 <= at <= 98 for at in way)] or ways
        # min() takes the first of equals, and the ways are in order of preference.
        placed.append(min(inside, key=lambda way: _covered(way, points, placed, drawn)))
    return placed


def _moved(point: Place, way: tuple[float, float], ring: float) -> Place:
    left = point[0] + way[0] * ring * _STEP[0]
    top = point[1] + way[1] * ring * _STEP[1]
    return round(left, 2), round(top, 2)


def _sampled(line: Sequence[Place]) -> list[Place]:
    """Places along a polyline, about a percent apart."""
    found = []
    for (left, top), (right, bottom) in pairwise(line):
        steps = max(1, int(max(abs(right - left), abs(bottom - top))))
        for step in range(steps + 1):
            share = step / steps
            found.append((left + share * (right - left), top + share * (bottom - top)))
    return found


def _covered(
    label: Place, points: Sequence[Place], labels: Sequence[Place], drawn: Sequence[Place]
) -> float:
    """How much of a label points and other labels cover, and a little for what is drawn."""
    half = ((LABEL[0] + DOT[0]) / 2, (LABEL[1] + DOT[1]) / 2)
    own = (LABEL[0] / 2, LABEL[1] / 2)
    return (
        sum(_overlap(label, point, half) for point in points)
        + sum(_overlap(label, other, LABEL) for other in labels)
        + _LINE_WEIGHT * sum(_overlap(label, place, own) for place in drawn)
    )


def _overlap(one: Place, two: Place, reach: tuple[float, float]) -> float:
    """How far two boxes reach into each other, whose centres are `reach` apart when they touch."""
    across, down = (max(0.0, reach[axis] - abs(one[axis] - two[axis])) for axis in (0, 1))
    return across * down
