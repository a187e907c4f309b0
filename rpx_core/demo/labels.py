"""What an annotator would write down about a frame: boxes and referring expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.demo.actors import Member
from rpx_core.demo.catalogue import CATEGORIES

MINIMUM_PIXELS = 40
_CLEAR_PIXELS = 120
_MARGIN_PX = 14.0
_MARGIN_M = 0.05

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Sighting:
    """An object as seen in one frame: tight half-open box, visible pixels, median depth (m)."""

    member: Member
    box: Box
    pixels: int
    depth: float

    @property
    def centre(self) -> float:
        return (self.box[0] + self.box[2]) / 2


@dataclass(frozen=True)
class Expression:
    """A text and every object it refers to; none when the text fits nothing in the scene."""

    text: str
    targets: tuple[Sighting, ...]


def find_sightings(
    members: Sequence[Member], mask: NDArray[np.uint16], depth: NDArray[np.float64]
) -> list[Sighting]:
    """Every member with at least one visible pixel, in the members' order."""
    marked_rows, marked_columns = np.nonzero(mask)
    instances = mask[marked_rows, marked_columns]
    sightings = []
    for member in members:
        own = instances == member.instance
        rows, columns = marked_rows[own], marked_columns[own]
        if rows.size:
            box = (int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)
            distance = float(np.median(depth[rows, columns]))
            sightings.append(Sighting(member, box, int(rows.size), distance))
    return sightings


def refer(
    sightings: Sequence[Sighting], members: Sequence[Member], rng: np.random.Generator
) -> list[Expression]:
    """Up to four expressions, each true of exactly its targets among all that is visible.

    `members` also lists what stands there unseen: it is never said to be missing.
    """
    candidates = [*_names(sightings), *_extremes(sightings), *_groups(sightings)]
    candidates = [
        expression
        for expression in candidates
        if all(target.pixels >= _CLEAR_PIXELS for target in expression.targets)
    ]
    chosen = rng.permutation(len(candidates))[:3]
    expressions = [candidates[i] for i in sorted(chosen)]
    if rng.random() < 0.4:
        expressions.append(_no_target(members, rng))
    return expressions


def _names(sightings: Sequence[Sighting]) -> list[Expression]:
    """'the red mug', where only one thing is a red mug."""
    names = [sighting.member.name for sighting in sightings]
    return [
        Expression(f"the {sighting.member.name}", (sighting,))
        for sighting in sightings
        if names.count(sighting.member.name) == 1
    ]


def _extremes(sightings: Sequence[Sighting]) -> list[Expression]:
    """'the leftmost green ball' among several alike, 'the object closest to the camera'."""
    rules: tuple[tuple[str, Callable[[Sighting], float], float], ...] = (
        ("the leftmost {}", lambda sighting: sighting.centre, _MARGIN_PX),
        ("the rightmost {}", lambda sighting: -sighting.centre, _MARGIN_PX),
        ("the {} closest to the camera", lambda sighting: sighting.depth, _MARGIN_M),
    )
    kinds: dict[str, list[Sighting]] = {"object": list(sightings)}
    for sighting in sightings:
        kinds.setdefault(sighting.member.thing.category, []).append(sighting)
        kinds.setdefault(sighting.member.name, []).append(sighting)
    expressions = []
    for kind, alike in kinds.items():
        for pattern, key, margin in rules:
            first, *others = sorted(alike, key=key)
            if others and key(others[0]) - key(first) >= margin:
                expressions.append(Expression(pattern.format(kind), (first,)))
    return expressions


def _groups(sightings: Sequence[Sighting]) -> list[Expression]:
    """'all balls', 'all red objects', where there are at least two."""
    groups: dict[str, list[Sighting]] = {}
    for sighting in sightings:
        thing = sighting.member.thing
        plural = thing.category + ("es" if thing.category.endswith("x") else "s")
        groups.setdefault(f"all {plural}", []).append(sighting)
        groups.setdefault(f"all {thing.colour} objects", []).append(sighting)
    return [Expression(text, tuple(group)) for text, group in groups.items() if len(group) > 1]


def _no_target(members: Sequence[Member], rng: np.random.Generator) -> Expression:
    """A name built from a category and a colour that nothing in the scene combines."""
    present = {member.name for member in members}
    colours = {member.thing.colour for member in members}
    categories = {member.thing.category for member in members}
    absent = [
        f"{colour} {category}"
        for category in sorted(categories)
        for colour in CATEGORIES[category]
        if f"{colour} {category}" not in present
    ]
    # The hard ones: both words fit something here, only not the same thing.
    tempting = [name for name in absent if name.split()[0] in colours]
    return Expression(f"the {rng.choice(tempting or absent)}", ())
