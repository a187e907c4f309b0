"""Some samples of many, spread evenly over scenes, phases and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rpx_core.records import natural_key

Entry = dict[str, Any]


def choose_samples(entries: Sequence[Entry], count: int | None) -> list[Entry]:
    """`count` of the entries in their order, the same whatever that is; all without a count.

    Scenes differ by at most one sample in how many they give, and so do the phases of a scene,
    as far as they have them; what is taken of a scene and phase is spread evenly over its frames.
    """
    if count is None or count >= len(entries):
        return list(entries)
    cells: dict[tuple[str, str], list[int]] = {}
    for place, entry in enumerate(entries):
        cells.setdefault((_text(entry, "scene"), _text(entry, "phase")), []).append(place)
    kept: set[int] = set()
    for cell, quota in _quotas(
        {cell: len(places) for cell, places in cells.items()}, count
    ).items():
        places = sorted(cells[cell], key=lambda place: natural_key(_text(entries[place], "id")))
        kept.update(places[index] for index in _evenly(len(places), quota))
    return [entry for place, entry in enumerate(entries) if place in kept]


def _quotas(sizes: Mapping[tuple[str, str], int], count: int) -> dict[tuple[str, str], int]:
    """How many each cell gives: in rounds over the scenes, each time the next phase."""
    phases: dict[str, list[str]] = {}
    for scene, phase in sorted(
        sizes, key=lambda cell: (natural_key(cell[0]), natural_key(cell[1]))
    ):
        phases.setdefault(scene, []).append(phase)
    quotas = dict.fromkeys(sizes, 0)
    turn = 0
    while count:
        open_scenes = [
            scene
            for scene, names in phases.items()
            if any(quotas[scene, phase] < sizes[scene, phase] for phase in names)
        ]
        # A last round that is not for all takes scenes evenly spaced.
        for step, index in enumerate(_evenly(len(open_scenes), min(count, len(open_scenes)))):
            scene = open_scenes[index]
            names = phases[scene]
            wanted = [names[(turn + step + shift) % len(names)] for shift in range(len(names))]
            free = [phase for phase in wanted if quotas[scene, phase] < sizes[scene, phase]]
            quotas[scene, min(free, key=lambda phase: quotas[scene, phase])] += 1
            count -= 1
        turn += 1
    return quotas


def _evenly(length: int, count: int) -> list[int]:
    """`count` of `length` indices, evenly spaced and centred."""
    return [(2 * step + 1) * length // (2 * count) for step in range(count)]


def _text(entry: Entry, key: str) -> str:
    return str(entry.get(key, ""))
