"""Readiness scores: hand-computed examples, what is missing, and direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from rpx_core.contracts import Better, Difficulty, Phase
from rpx_core.readiness.averages import ESD_WEIGHTS, Rules
from rpx_core.readiness.scores import change
from rpx_core.report import Number

from .readiness_cells import (
    CLEAN,
    CLUTTER,
    DELTAS,
    EASY,
    HARD,
    INTERACTION,
    LEVELS,
    MEDIUM,
    RULES,
    TIER_LEVELS,
    TRANSITIONS,
    Seen,
    make_cell,
    rate,
    scores,
)

# Scenes a and b share a tier but not the number of samples: the rules differ.
EXAMPLE = (
    *(Seen("a", EASY, CLUTTER, 0.10, 3), Seen("b", EASY, CLUTTER, 0.30, 1)),
    *(Seen("m", MEDIUM, CLUTTER, 0.20), Seen("h", HARD, CLUTTER, 0.40)),
    *(Seen("a", EASY, INTERACTION, 0.20, 2), Seen("b", EASY, INTERACTION, 0.40, 2)),
    *(Seen("m", MEDIUM, INTERACTION, 0.30), Seen("h", HARD, INTERACTION, 0.60)),
    *(Seen("a", EASY, CLEAN, 0.10, 3), Seen("b", EASY, CLEAN, 0.10, 1)),
    *(Seen("m", MEDIUM, CLEAN, 0.10), Seen("h", HARD, CLEAN, 0.20)),
)
BY_HAND: Mapping[Rules, Mapping[str, float]] = {
    "rpx-1": {
        "esd_easy": 2.2 / 12,
        "esd_medium": 0.20,
        "esd_hard": 0.40,
        "esd": 0.25 * 2.2 / 12 + 0.07 + 0.16,
        "s_clutter": 0.25 * 0.15 + 0.07 + 0.16,
        "s_interaction": 0.42,
        "s_clean": 0.14,
        "s_overall": 0.8275 / 3,
        "delta_int": 0.1525,
        "delta_rec": -0.28,
        "str_c_to_i": 0.1525,
        "str_i_to_l": -0.28,
    },
    "rpx-2": {
        "esd_easy": 0.20,
        "esd_medium": 0.20,
        "esd_hard": 0.40,
        "esd": 0.28,
        "s_clutter": 0.28,
        "s_interaction": 0.42,
        "s_clean": 0.14,
        "s_overall": 0.28,
        "delta_int": 0.14,
        "delta_rec": -0.28,
        "str_c_to_i": (0.1 + 0.1 + 0.1 + 0.2) / 4,
        "str_i_to_l": -(0.1 + 0.3 + 0.2 + 0.4) / 4,
    },
}


def without(cells: Sequence[Seen], *keys: Phase | Difficulty) -> list[Seen]:
    return [cell for cell in cells if cell.phase not in keys and cell.tier not in keys]


@pytest.mark.parametrize("rules", RULES)
def test_scores_are_those_computed_by_hand(rules: Rules) -> None:
    found = scores(rules, EXAMPLE)
    values = {name: score.value for name, score in found.items() if name != "ts"}
    assert values == pytest.approx(BY_HAND[rules])
    assert {score.coverage for name, score in found.items() if name != "ts"} == {1.0}


def test_weights_are_the_published_ones() -> None:
    assert dict(ESD_WEIGHTS) == {EASY: 0.25, MEDIUM: 0.35, HARD: 0.40}


def test_rpx_1_leaves_a_missing_difficulty_out_and_says_how_much_weight_is_left() -> None:
    cells = [Seen("a", EASY, CLUTTER, 0.1), Seen("h", HARD, CLUTTER, 0.3)]
    score = scores("rpx-1", cells)["s_clutter"]
    assert score.value == pytest.approx(0.145 / 0.65)
    assert score.coverage == pytest.approx(0.65)
    assert score.reason is None


def test_rpx_2_has_no_phase_score_without_every_difficulty() -> None:
    cells = [Seen("a", EASY, CLUTTER, 0.1), Seen("h", HARD, CLUTTER, 0.3)]
    found = scores("rpx-2", cells)
    for name in ("s_clutter", "esd"):
        assert found[name].value is None
        assert found[name].reason == "no value for difficulty medium"
        assert found[name].coverage == pytest.approx(0.65)
    assert found["esd_easy"].value == pytest.approx(0.1)


@pytest.mark.parametrize("rules", RULES)
def test_a_missing_phase_makes_what_needs_it_null_and_leaves_the_rest(rules: Rules) -> None:
    found = scores(rules, without(EXAMPLE, INTERACTION))
    for name in ("s_interaction", *DELTAS, *TRANSITIONS):
        assert found[name].value is None
        assert found[name].reason
        assert found[name].coverage == 0
        assert found[name].change is None
    assert found["s_overall"].value is None
    assert found["s_overall"].reason == "no score for phase interaction"
    assert found["s_overall"].coverage == pytest.approx(2 / 3)
    assert found["s_clutter"].value == pytest.approx(BY_HAND[rules]["s_clutter"])
    assert found["esd"].value is not None


@pytest.mark.parametrize("rules", RULES)
def test_without_phases_the_difficulties_still_score(rules: Rules) -> None:
    cells = [Seen("a", EASY, None, 0.1), Seen("m", MEDIUM, None, 0.2), Seen("h", HARD, None, 0.3)]
    readiness = rate(rules, cells)
    found = {score.name: score for score in readiness.scores}
    assert found["esd"].value == pytest.approx(0.215)
    for name in (*LEVELS[1:], *DELTAS, *TRANSITIONS):
        assert (found[name].value, found[name].coverage) == (None, 0)
        assert found[name].reason
    assert {(cell.value, cell.reason) for cell in readiness.grid} == {(None, "no samples")}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("cells", [(), (Seen("a", None, None, 0.5),)])
def test_without_phases_and_difficulties_every_score_is_null_for_a_reason(
    rules: Rules, cells: Sequence[Seen]
) -> None:
    readiness = rate(rules, cells)
    assert {score.value for score in readiness.scores} == {None}
    assert {score.coverage for score in readiness.scores} == {0}
    assert all(score.reason for score in readiness.scores)
    assert readiness.grid == ()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"undefined": 2}, "undefined for all 4"),
        ({"failed": 3}, "all 6 failed"),
        ({"undefined": 2, "failed": 3}, "undefined for 4 and failed for 6: none is left"),
        ({"n": 2, "reason": "infinite"}, "infinite"),
        ({"n": 2, "reason": "undefined for the pooled evidence"}, "undefined"),
    ],
)
def test_a_null_says_why_there_is_no_value(fields: Mapping[str, object], reason: str) -> None:
    cells = [make_cell(Seen(scene, EASY, CLUTTER, None), **fields) for scene in ("a", "b")]
    readiness = rate("rpx-2", cells)
    found = {score.name: score for score in readiness.scores}
    assert (found["esd_easy"].value, found["esd_easy"].reason) == (None, reason)
    first = readiness.grid[0]
    assert (first.phase, first.difficulty, first.reason) == (CLUTTER, EASY, reason)
    assert found["s_clutter"].reason == "no value for difficulty easy, medium, hard"


def test_a_scene_without_a_value_is_left_out_of_its_tier() -> None:
    cells = [Seen("a", EASY, CLUTTER, 0.1), Seen("b", EASY, CLUTTER, None)]
    assert scores("rpx-2", cells)["esd_easy"].value == 0.1


def test_rpx_2_counts_a_scene_once_however_many_phases_it_was_seen_in() -> None:
    cells = [*(Seen("a", EASY, phase, 0.1) for phase in Phase), Seen("b", EASY, CLUTTER, 0.5)]
    assert scores("rpx-2", cells)["esd_easy"].value == pytest.approx(0.3)
    assert scores("rpx-1", cells)["esd_easy"].value == pytest.approx(0.2)


def test_grid_has_the_value_scenes_and_samples_of_each_cell() -> None:
    grid = {(cell.phase, cell.difficulty): cell for cell in rate("rpx-1", EXAMPLE).grid}
    assert len(grid) == 9
    cell = grid[CLUTTER, EASY]
    assert cell.value == pytest.approx(0.15)
    assert (cell.scenes, cell.samples) == (2, 4)


@pytest.mark.parametrize(
    ("better", "delta", "word"),
    [
        ("lower", 0.1, "worse"),
        ("lower", -0.1, "better"),
        ("higher", 0.1, "better"),
        ("higher", -0.1, "worse"),
        ("higher", 0.0, "equal"),
        (None, 0.1, None),
        ("lower", None, None),
    ],
)
def test_direction_of_the_output_says_what_a_change_means(
    better: Better | None, delta: float | None, word: str | None
) -> None:
    assert change(delta, better) == word


@pytest.mark.parametrize("rules", RULES)
def test_changes_are_oriented_and_levels_keep_the_direction(rules: Rules) -> None:
    for better, words in (("lower", ("worse", "better")), ("higher", ("better", "worse"))):
        found = scores(rules, EXAMPLE, better=better)
        for names in (DELTAS, TRANSITIONS):
            assert tuple(found[name].change for name in names) == words
            assert {found[name].better for name in names} == {None}
        assert {found[name].better for name in (*LEVELS, *TIER_LEVELS)} == {better}
        assert {found[name].change for name in (*LEVELS, *TIER_LEVELS)} == {None}


@pytest.mark.parametrize("rules", RULES)
def test_rounding_is_no_change(rules: Rules) -> None:
    cells = [
        Seen(f"{tier}{scene}", tier, phase, 0.1, samples)
        for tier in Difficulty
        for phase, samples in ((CLUTTER, 3), (INTERACTION, 1), (CLEAN, 7))
        for scene in range(samples)
    ]
    found = scores(rules, cells)
    assert {found[name].change for name in DELTAS} == {"equal"}
    assert {found[name].value for name in DELTAS} == {0.0}


def test_transition_compares_each_scene_with_itself() -> None:
    # The phases show different scenes; the only one that is in both got better.
    cells = [
        *(Seen("a", tier, CLUTTER, 0.1) for tier in Difficulty),
        *(Seen("b", tier, INTERACTION, 0.5) for tier in Difficulty),
        Seen("c", EASY, CLUTTER, 0.3),
        Seen("c", EASY, INTERACTION, 0.2),
    ]
    found = scores("rpx-2", cells)
    assert found["delta_int"].change == "worse"
    assert found["str_c_to_i"].value == pytest.approx(-0.1)
    assert found["str_c_to_i"].change == "better"
    assert found["str_c_to_i"].coverage == pytest.approx(1 / 3)


def test_transition_does_not_need_every_difficulty() -> None:
    found = scores("rpx-2", without(EXAMPLE, MEDIUM, HARD))
    assert found["delta_int"].value is None
    assert found["str_c_to_i"].value == pytest.approx(0.1)
    assert found["str_c_to_i"].coverage == 1


def test_transition_needs_one_scene_in_both_phases() -> None:
    cells = [Seen("a", EASY, CLUTTER, 0.1), Seen("b", EASY, INTERACTION, 0.2)]
    score = scores("rpx-2", cells)["str_c_to_i"]
    assert (score.value, score.coverage) == (None, 0)
    assert score.reason == "no scene has a value in both clutter and interaction"


def test_transition_needs_scene_names() -> None:
    cells = [Seen(None, EASY, CLUTTER, 0.1), Seen(None, EASY, INTERACTION, 0.2)]
    score = scores("rpx-2", cells)["str_c_to_i"]
    assert (score.value, score.reason) == (None, "the samples name no scene")


def make_stability(**fields: object) -> Number:
    return Number.model_validate(
        {
            "address": "stability.ts@sample",
            "label": "stability",
            "output": "ts",
            "aggregate": "sample",
            "value": 0.9,
            "better": "higher",
            "n": 6,
            **fields,
        }
    )


def test_temporal_stability_is_the_metric_with_the_share_of_pairs_behind_it() -> None:
    number = make_stability(undefined=3, failed=1, interval=(0.8, 0.95), interval_reason=None)
    score = scores("rpx-2", EXAMPLE, stability=number)["ts"]
    assert (score.value, score.better, score.coverage) == (0.9, "higher", 0.6)
    assert (score.interval, score.interval_reason) == ((0.8, 0.95), None)


def test_temporal_stability_without_a_defined_pair_is_null() -> None:
    number = make_stability(value=None, n=0, undefined=4, reason="undefined for all 4")
    score = scores("rpx-2", EXAMPLE, stability=number)["ts"]
    assert (score.value, score.coverage, score.reason) == (None, 0, "undefined for all 4")


def test_temporal_stability_without_pairs_or_metric_is_null() -> None:
    nothing = make_stability(value=None, n=0, reason="there is no evidence")
    assert scores("rpx-2", EXAMPLE, stability=nothing)["ts"].coverage == 0
    missing = scores("rpx-2", EXAMPLE)["ts"]
    assert (missing.value, missing.coverage) == (None, 0)
    assert missing.reason == "not defined for this task, or left out of the metrics of this run"
