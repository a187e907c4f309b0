"""Some samples of many: exactly so many, evenly, and always the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.hub.selection import choose_samples


def frames(scenes: int, phases: int, length: int) -> list[dict[str, Any]]:
    return [
        {"id": f"{scene}_{phase}_{frame}", "scene": f"scene{scene}", "phase": phase}
        for scene in range(scenes)
        for phase in range(phases)
        for frame in range(length)
    ]


@given(st.integers(1, 7), st.integers(1, 3), st.integers(1, 9), st.integers(1, 200))
def test_exactly_so_many_evenly_over_scenes_and_phases(
    scenes: int, phases: int, length: int, count: int
) -> None:
    entries = frames(scenes, phases, length)
    chosen = choose_samples(entries, count)
    assert len(chosen) == min(count, len(entries))
    by_scene = Counter(entry["scene"] for entry in chosen)
    by_cell = Counter((entry["scene"], entry["phase"]) for entry in chosen)
    spread = [by_scene.get(f"scene{scene}", 0) for scene in range(scenes)]
    assert max(spread) - min(spread) <= 1
    for scene in range(scenes):
        cells = [by_cell.get((f"scene{scene}", phase), 0) for phase in range(phases)]
        assert max(cells) - min(cells) <= 1


@given(st.integers(2, 30), st.integers(1, 60))
def test_phases_are_balanced_over_all_scenes(scenes: int, count: int) -> None:
    chosen = choose_samples(frames(scenes, 3, 10), count)
    by_phase = Counter(entry["phase"] for entry in chosen)
    spread = [by_phase.get(phase, 0) for phase in range(3)]
    assert max(spread) - min(spread) <= 1


@given(st.randoms(), st.integers(1, 40))
def test_the_order_of_the_manifest_does_not_matter(random: Any, count: int) -> None:
    entries = frames(4, 3, 5)
    shuffled = random.sample(entries, len(entries))
    chosen = {entry["id"] for entry in choose_samples(shuffled, count)}
    assert chosen == {entry["id"] for entry in choose_samples(entries, count)}


def test_frames_are_spread_over_the_sequence() -> None:
    chosen = choose_samples(frames(1, 1, 100), 4)
    assert [entry["id"] for entry in chosen] == ["0_0_12", "0_0_37", "0_0_62", "0_0_87"]


@pytest.mark.parametrize("count", [None, 60, 1000])
def test_all_are_kept_where_that_many_are_wanted(count: int | None) -> None:
    entries = frames(4, 3, 5)
    assert choose_samples(entries, count) == entries
