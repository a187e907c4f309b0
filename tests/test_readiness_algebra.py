"""What holds for readiness scores of any cells."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rpx_core as rpx
from rpx_core.contracts import Difficulty, Phase
from rpx_core.readiness.averages import ESD_WEIGHTS, Rules

from .readiness_cells import (
    CLEAN,
    CLUTTER,
    DELTAS,
    EASY,
    INTERACTION,
    LEVELS,
    RULES,
    TIER_LEVELS,
    TRANSITIONS,
    Seen,
    rate,
    scores,
)

VALUES = st.floats(0.01, 100.0).map(lambda value: round(value, 3))


def complete() -> st.SearchStrategy[list[Seen]]:
    """One to three scenes of each difficulty, each in every phase."""
    scene = st.lists(st.tuples(VALUES, st.integers(1, 5)), min_size=3, max_size=3)
    tier = st.lists(scene, min_size=1, max_size=3)
    return st.lists(tier, min_size=3, max_size=3).map(
        lambda tiers: [
            Seen(f"{difficulty}{number}", difficulty, phase, value, count)
            for difficulty, scenes in zip(Difficulty, tiers, strict=True)
            for number, phases in enumerate(scenes)
            for phase, (value, count) in zip(Phase, phases, strict=True)
        ]
    )


COMPLETE = complete()
PARTIAL = st.lists(
    st.builds(
        Seen,
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from([*Difficulty, None]),
        st.sampled_from([*Phase, None]),
        VALUES | st.none(),
        st.integers(1, 5),
    ),
    max_size=30,
    unique_by=lambda seen: (seen.scene, seen.tier, seen.phase),
)


@given(COMPLETE)
def test_rpx_1_on_complete_data_is_what_the_published_functions_say(cells: list[Seen]) -> None:
    seen = [cell for cell in cells for _ in range(cell.samples)]
    rows = [{"absrel": cell.value} for cell in seen]
    phases, tiers = [cell.phase for cell in seen], [cell.tier for cell in seen]
    esd = rpx.compute_esd(rows, tiers, "absrel")
    phase_score = rpx.compute_weighted_phase_score(rows, phases, tiers, "absrel")
    transition = rpx.compute_str(
        {
            CLUTTER: phase_score.s_clutter,
            INTERACTION: phase_score.s_interaction,
            CLEAN: phase_score.s_clean,
        }
    )
    expected = {
        "esd_easy": esd.easy,
        "esd_medium": esd.medium,
        "esd_hard": esd.hard,
        "esd": esd.weighted_score(),
        **{name: getattr(phase_score, name) for name in (*LEVELS[1:], *DELTAS)},
        **{name: getattr(transition, name) for name in TRANSITIONS},
    }
    found = scores("rpx-1", cells)
    # 1e-9: rows are added one by one there and as value times count here.
    assert {name: found[name].value for name in expected} == pytest.approx(expected, abs=1e-9)


@given(st.sampled_from(RULES), PARTIAL | COMPLETE, st.randoms(use_true_random=False))
def test_order_of_the_cells_does_not_matter(
    rules: Rules, cells: list[Seen], random: Random
) -> None:
    shuffled = list(cells)
    random.shuffle(shuffled)
    assert rate(rules, shuffled) == rate(rules, cells)


@pytest.mark.parametrize("rules", RULES)
def test_order_of_the_scenes_does_not_move_the_last_bit(rules: Rules) -> None:
    # Added from left to right, 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ.
    cells = [Seen(f"scene{value}", EASY, CLUTTER, value) for value in (0.1, 0.2, 0.3)]
    assert rate(rules, cells) == rate(rules, cells[::-1])


@given(st.sampled_from(RULES), COMPLETE, st.integers(1, 50))
def test_a_constant_added_to_every_value_is_added_to_every_level(
    rules: Rules, cells: list[Seen], constant: int
) -> None:
    shifted = [
        Seen(cell.scene, cell.tier, cell.phase, (cell.value or 0) + constant, cell.samples)
        for cell in cells
    ]
    before, after = scores(rules, cells), scores(rules, shifted)
    for name in (*LEVELS, *TIER_LEVELS):
        assert after[name].value == pytest.approx((before[name].value or 0) + constant)
    for name in (*DELTAS, *TRANSITIONS):
        assert after[name].value == pytest.approx(before[name].value, abs=1e-9)


@given(PARTIAL)
def test_weighted_scores_of_rpx_2_are_null_exactly_where_weight_is_missing(
    cells: list[Seen],
) -> None:
    found = scores("rpx-2", cells)
    for name in (*LEVELS, *TIER_LEVELS, *DELTAS):
        assert (found[name].value is None) == (found[name].coverage < 1)
    for name in TRANSITIONS:
        assert (found[name].value is None) == (found[name].coverage == 0)


@given(st.sampled_from(RULES), PARTIAL)
def test_a_level_lies_between_the_values_and_a_null_has_a_reason(
    rules: Rules, cells: list[Seen]
) -> None:
    values = [cell.value for cell in cells if cell.value is not None]
    for score in scores(rules, cells).values():
        assert (score.value is None) == (score.reason is not None)
        assert 0 <= score.coverage <= 1
        if score.value is not None and score.change is None:
            assert min(values) * (1 - 1e-9) <= score.value <= max(values) * (1 + 1e-9)


@given(COMPLETE)
def test_rpx_2_does_not_depend_on_the_number_of_samples_per_scene(cells: list[Seen]) -> None:
    once = [Seen(cell.scene, cell.tier, cell.phase, cell.value) for cell in cells]
    assert scores("rpx-2", cells) == scores("rpx-2", once)


@given(COMPLETE)
def test_where_every_scene_is_in_every_phase_esd_is_the_overall_phase_score(
    cells: list[Seen],
) -> None:
    found = scores("rpx-2", cells)
    assert found["esd"].value == pytest.approx(found["s_overall"].value)


@given(COMPLETE)
def test_transitions_within_each_difficulty_weigh_to_the_delta(cells: list[Seen]) -> None:
    changes = {
        tier: scores("rpx-2", [cell for cell in cells if cell.tier is tier])["str_c_to_i"].value
        for tier in Difficulty
    }
    weighted = sum(ESD_WEIGHTS[tier] * (value or 0) for tier, value in changes.items())
    assert scores("rpx-2", cells)["delta_int"].value == pytest.approx(weighted, abs=1e-9)
