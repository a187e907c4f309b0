"""What is offered for a misspelt name."""

from __future__ import annotations

from rpx_core.spelling import did_you_mean

KNOWN = ("model", "metric", "models", "metrics", "task")


def test_the_nearest_names_are_offered_best_first() -> None:
    assert did_you_mean("modell", KNOWN) == "did you mean model or models?"
    assert did_you_mean("modell", KNOWN, most=1) == "did you mean model?"


def test_the_order_of_what_is_known_does_not_show() -> None:
    assert did_you_mean("metrc", KNOWN) == did_you_mean("metrc", set(KNOWN[::-1]))


def test_capitals_hide_no_name() -> None:
    assert did_you_mean("TASK", KNOWN) == "did you mean task?"


def test_nothing_is_offered_where_nothing_is_near() -> None:
    assert did_you_mean("qqqq", KNOWN) is None
