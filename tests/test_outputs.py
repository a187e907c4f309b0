"""Outputs declared alike, and output names of classes."""

from __future__ import annotations

import pytest

from rpx_core.outputs import are_distinct, count, output_name, share


def test_a_share_runs_from_nothing_to_all() -> None:
    found = share("pixels that are right")
    assert (found.worst, found.best, found.better, found.headline) == (0.0, 1.0, "higher", "pooled")
    assert share("", headline="sample").headline == "sample"


def test_none_is_best_of_what_should_be_rare() -> None:
    assert count("switches", "lower").best == 0.0
    assert count("hits", "higher").best is None
    assert count("classes").better is None


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("mug", "ap_mug"),
        ("Traffic light", "ap_traffic_light"),
        ("  tv/monitor! ", "ap_tv_monitor"),
        ("Straße", "ap_strasse"),
        ("杯", "ap_"),
    ],
)
def test_classes_are_named_in_lower_case_letters_and_digits(label: str, name: str) -> None:
    assert output_name("ap", label) == name


def test_classes_need_names_of_their_own() -> None:
    assert are_distinct(["mug", "mug 2"])
    assert are_distinct([])
    assert not are_distinct(["Mug", "mug"])
    assert not are_distinct(["mug", "杯"])
