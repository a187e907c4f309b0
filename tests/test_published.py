"""The published readiness functions: formulas, sentinels, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import rpx_core as rpx
from rpx_core.contracts import Difficulty, Phase
from rpx_core.errors import MetricError

EASY, MEDIUM, HARD = Difficulty
CLUTTER, INTERACTION, CLEAN = Phase


def weigh(**means: float) -> float:
    return rpx.ESDResult(*(means.get(tier) for tier in Difficulty), "absrel").weighted_score()


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"easy": 0.1, "medium": 0.2, "hard": 0.3}, 0.215),
        ({"easy": 0.1, "medium": 0.2}, 0.1583),
        ({"easy": 0.1, "hard": 0.3}, 0.2231),
        ({}, 0.0),
    ],
)
def test_esd_weighs_what_is_there_as_published(means: dict[str, float], expected: float) -> None:
    assert weigh(**means) == pytest.approx(expected, abs=5e-5)


def test_esd_is_the_mean_of_each_difficulty_over_rows_that_have_both() -> None:
    rows = [{"absrel": 0.1}, {"absrel": 0.3}, {"rmse": 9.0}, {"absrel": 7.0}, {"absrel": None}]
    found = rpx.compute_esd(rows, [EASY, EASY, EASY, None, MEDIUM], "absrel")
    assert found == rpx.ESDResult(pytest.approx(0.2), None, None, "absrel")
    assert found.weighted_score() == pytest.approx(0.2)


def test_difficulties_and_phases_may_be_plain_strings() -> None:
    rows = [{"m": 1.0}, {"m": 3}]
    assert rpx.compute_esd(rows, ["easy", "hard"], "m").hard == 3.0
    found = rpx.compute_weighted_phase_score(rows, ["clean", None], ["easy", "hard"], "m")
    assert (found.s_clean, found.clean.hard) == (1.0, None)
    assert rpx.compute_str({"clean": 2.0}).metric_clean == 2.0


def phase_score(clutter: float | None, interaction: float | None, clean: float | None) -> Any:
    values = {CLUTTER: clutter, INTERACTION: interaction, CLEAN: clean}
    given = {phase: value for phase, value in values.items() if value is not None}
    rows = [{"m": value} for value in given.values()]
    return rpx.compute_weighted_phase_score(rows, list(given), [EASY] * len(rows), "m")


def test_weighted_phase_score_is_the_mean_of_the_phases_as_published() -> None:
    score = phase_score(0.10, 0.14, 0.08)
    assert (score.s_clutter, score.s_interaction, score.s_clean) == (0.10, 0.14, 0.08)
    assert score.s_overall == pytest.approx(0.1067, abs=5e-5)
    assert score.delta_int == pytest.approx(0.04)
    assert score.delta_rec == pytest.approx(-0.06)


def test_a_missing_phase_keeps_the_published_sentinel() -> None:
    score = phase_score(5.0, None, 3.0)
    assert score.s_overall == pytest.approx(2.667, abs=5e-4)
    assert (score.delta_int, score.delta_rec) == (-5.0, 3.0)


def test_weighted_phase_score_splits_rows_by_phase_and_difficulty() -> None:
    rows = [{"m": float(value)} for value in range(9)]
    phases = [phase for phase in Phase for _ in Difficulty]
    score = rpx.compute_weighted_phase_score(rows, phases, [*Difficulty] * 3, "m")
    assert score.interaction == rpx.ESDResult(3.0, 4.0, 5.0, "m")
    assert score.s_clean == pytest.approx(0.25 * 6 + 0.35 * 7 + 0.40 * 8)


def test_state_transitions_are_differences_of_the_scores_given() -> None:
    found = rpx.compute_str({CLUTTER: 0.10, INTERACTION: 0.14, CLEAN: 0.08})
    assert found.str_c_to_i == pytest.approx(0.04)
    assert found.str_i_to_l == pytest.approx(-0.06)
    assert found.metric_interaction == 0.14


def test_a_missing_phase_is_zero_in_state_transitions_as_published() -> None:
    found = rpx.compute_str({CLUTTER: 5.0, CLEAN: 3.0})
    assert found == rpx.StateTransitionRobustnessResult(-5.0, 3.0, 5.0, 0.0, 3.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: rpx.compute_esd([{"m": math.nan}], [EASY], "m"), "row 0: m is nan"),
        (lambda: rpx.compute_esd([{"m": math.inf}], [EASY], "m"), "row 0: m is inf"),
        (lambda: rpx.compute_esd([{"m": "x"}], [EASY], "m"), "row 0: m is 'x'"),
        (lambda: rpx.compute_esd([{"m": 1.0}], [], "m"), "0 difficulties for 1 rows"),
        (lambda: rpx.compute_esd([{"m": 1.0}], ["tough"], "m"), "row 0: 'tough' is no difficulty"),
        (
            lambda: rpx.compute_weighted_phase_score([{"m": 1}], [], [EASY], "m"),
            "0 phases for 1 rows",
        ),
        (
            lambda: rpx.compute_weighted_phase_score([{"m": 1}], ["dirty"], [EASY], "m"),
            "row 0: 'dirty' is no phase",
        ),
        (lambda: rpx.compute_str({"cleen": 1.0}), "scores: 'cleen' is no phase"),
        (lambda: rpx.compute_str({CLEAN: math.nan}), "score of clean is nan"),
    ],
)
def test_what_would_spoil_a_score_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(MetricError) as caught:
        call()
    assert says in str(caught.value)
