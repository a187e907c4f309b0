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
    the phases of a scene, and phases over all scenes. What is taken of a scene and phase is spread
    evenly over its frames.
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


def _quotas(sizes: Mapping[Cell, int], count: int) -> Counter[Cell]:
    """How many each cell gives: in rounds over the scenes, each time of the phase behind most."""
    turns = _Turns(sizes)
    while count:
        scenes = turns.open_scenes()
        if count >= len(scenes):
            for scene in scenes:
                turns.give(scene)
            count -= len(scenes)
        else:
            # A last round that is not for all takes scenes evenly spaced, and balances phases.
            evenly = [scenes[index] for index in _evenly(len(scenes), count)]
            waiting = [*evenly, *(scene for scene in scenes if scene not in set(evenly))]
            for _ in range(count):
                scene = min(waiting, key=lambda one: turns.totals[turns.following(one)])
                waiting.remove(scene)
                turns.give(scene)
            count = 0
    return turns.given


class _Turns:
    """Whose turn it is: what each scene and phase has given, and what it may give next."""

    def __init__(self, sizes: Mapping[Cell, int]) -> None:
        self.given: Counter[Cell] = Counter()
        self.totals: Counter[str] = Counter()
        self._sizes = sizes
        self._phases: dict[str, list[str]] = {}
        for scene, phase in sorted(sizes, key=lambda cell: [natural_key(name) for name in cell]):
            self._phases.setdefault(scene, []).append(phase)

    def open_scenes(self) -> list[str]:
        """The scenes that have samples left."""
        return [scene for scene in self._phases if self._free(scene)]

    def following(self, scene: str) -> str:
        """The phase that a scene gives next: of what it gave least, what all gave least."""
        return min(
            self._free(scene), key=lambda phase: (self.given[scene, phase], self.totals[phase])
        )

    def give(self, scene: str) -> None:
        """Take one sample of the phase whose turn it is."""
        phase = self.following(scene)
        self.given[scene, phase] += 1
        self.totals[phase] += 1
        # The next round begins behind it: equal shares go round instead of meeting again.
        names = self._phases[scene]
        after = names.index(phase) + 1
        self._phases[scene] = [*names[after:], *names[:after]]

    def _free(self, scene: str) -> list[str]:
        cells = ((scene, phase) for phase in self._phases[scene])
        return [phase for _, phase in cells if self.given[scene, phase] < self._sizes[scene, phase]]


def _evenly(length: int, count: int) -> list[int]:
    """`count` of `length` indices, evenly spaced and centred."""
    return [(2 * step + 1) * length // (2 * count) for step in range(count)]


def _text(entry: Entry, key: str) -> str:
    return str(entry.get(key, ""))
