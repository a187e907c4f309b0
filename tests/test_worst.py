"""The worst samples: bad ones, of different sequences, the same whoever has seen which."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.contracts import Picture
from rpx_core.previews import WorstKeeper, find_pictures
from rpx_core.worst import Candidate, choose_worst

PICTURES = [Picture("rgb", np.zeros((2, 2, 3), np.uint8))]

sequences = st.dictionaries(
    st.sampled_from("abcdef"), st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1
)


def make_candidates(values: dict[str, list[int]]) -> list[Candidate]:
    return [
        Candidate(f"{name}{place}", name, float(value))
        for name, found in values.items()
        for place, value in enumerate(found)
    ]


def test_the_worst_of_each_sequence_comes_before_the_second_of_any() -> None:
    candidates = make_candidates({"a": [9, 8, 7, 6], "b": [5, 1], "c": [2]})
    chosen = choose_worst(candidates, 4, lower_is_better=True)
    assert [one.id for one in chosen] == ["a0", "a1", "b0", "c0"]
    assert [one.id for one in choose_worst(candidates, 2, lower_is_better=True)] == ["a0", "b0"]


def test_no_more_than_two_are_of_one_sequence() -> None:
    candidates = make_candidates({"a": [9, 8, 7, 6]})
    assert [one.id for one in choose_worst(candidates, 6, lower_is_better=True)] == ["a0", "a1"]
    assert [one.id for one in choose_worst(candidates, 6, lower_is_better=False)] == ["a3", "a2"]


@given(sequences, st.integers(0, 8), st.booleans(), st.randoms(use_true_random=False))
def test_choosing_one_by_one_is_choosing_from_all(
    values: dict[str, list[int]], limit: int, lower_is_better: bool, random: Random
) -> None:
    candidates = make_candidates(values)
    together = choose_worst(candidates, limit, lower_is_better=lower_is_better)
    random.shuffle(candidates)
    kept: tuple[Candidate, ...] = ()
    for candidate in candidates:
        kept = choose_worst([*kept, candidate], limit, lower_is_better=lower_is_better)
    assert kept == together


def test_the_pictures_that_are_kept_are_those_of_the_chosen(tmp_path: Path) -> None:
    keeper = WorstKeeper(tmp_path / "previews", 3, lower_is_better=True)
    for candidate in make_candidates({"a": [5, 9, 7, 8], "b": [1, 3], "c": [2]}):
        if keeper.wants(candidate):
            keeper.keep(candidate, PICTURES)
    assert sorted(path.name for path in (tmp_path / "previews").iterdir()) == ["a1", "b1", "c0"]
    assert find_pictures(tmp_path, "a1") == (("rgb", "previews/a1/0-rgb.png"),)


def test_a_sequence_that_is_done_again_keeps_its_pictures(tmp_path: Path) -> None:
    keeper = WorstKeeper(tmp_path / "previews", 2, lower_is_better=True)
    for _ in range(2):
        for candidate in make_candidates({"a": [5], "b": [1]}):
            if keeper.wants(candidate):
                keeper.keep(candidate, PICTURES)
    assert sorted(path.name for path in (tmp_path / "previews").iterdir()) == ["a0", "b0"]


def test_without_room_nothing_is_wanted(tmp_path: Path) -> None:
    keeper = WorstKeeper(tmp_path / "previews", 0, lower_is_better=True)
    assert not keeper.wants(Candidate("a0", "a", 1.0))
