"""Some samples of many, spread evenly over scenes, phases and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rpx_core.records import natural_key

Entry = dict[str, Any]
Cell = tuple[str, str]


def choose_samples(entries: Sequence[Entry], count: int | None) -> list[Entry]:
    """`count` of the entries in their order, the same whatever that is; all without a count.

    As far as they have them, scenes differ by at most one sample in how many they give, and so do
    the phases of a scene; over all scenes, phases by two. What is taken of a scene and phase is
    spread evenly over its frames.
    """
    if count is None or count >= len(entries):
        return list(entries)
    cells: dict[Cell, list[int]] = {}
    for place, entry in enumerate(entries):
        cells.setdefault((_text(entry, "scene"), _text(entry, "phase")), []).append(place)
    kept: set[int] = set()
    for cell, quota in _quotas(
        {cell: len(places) for cell, places in cells.items()}, count
    ).items():
        places = sorted(cells[cell], key=lambda place: natural_key(_text(entries[place], "id")))
        kept.update(places[index] for index in _evenly(len(places), quota))
    return [entry for place, entry in enumerate(entries) if place in kept]


def _quotas(sizes: Mapping[Cell, int], count: int) -> dict[Cell, int]:
    """How many each cell gives: in rounds over the scenes, each time of the phase behind most."""
    phases: dict[str, list[str]] = {}
    for scene, phase in sorted(sizes, key=lambda cell: [natural_key(name) for name in cell]):
        phases.setdefault(scene, []).append(phase)
    quotas = dict.fromkeys(sizes, 0)
    totals: Counter[str] = Counter()
    while count:
        scenes = [
            s for s, names in phases.items() if any(quotas[s, p] < sizes[s, p] for p in names)
        ]
        # A last round that is not for all takes scenes evenly spaced.
        for index in _evenly(len(scenes), min(count, len(scenes))):
            scene = scenes[index]
            names = phases[scene]
            free = [phase for phase in names if quotas[scene, phase] < sizes[scene, phase]]
            quota = {phase: (quotas[scene, phase], totals[phase]) for phase in free}
            phase = min(free, key=quota.__getitem__)
            quotas[scene, phase] += 1
            totals[phase] += 1
            # The next round begins behind it: equal shares go round instead of meeting again.
            names[:] = _behind(names, phase)
            count -= 1
    return quotas


def _behind(names: Sequence[str], phase: str) -> list[str]:
    after = names.index(phase) + 1
    return [*names[after:], *names[:after]]


def _evenly(length: int, count: int) -> list[int]:
    """`count` of `length` indices, evenly spaced and centred."""
    return [(2 * step + 1) * length // (2 * count) for step in range(count)]


def _text(entry: Entry, key: str) -> str:
    return str(entry.get(key, ""))
