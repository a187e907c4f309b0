"""The configuration: layers over each other, short forms, and errors that name the field."""

from __future__ import annotations

from typing import Any

import pytest

from rpx_core.config import Align, RunConfig, build_config, merge_layers, set_field
from rpx_core.errors import ConfigError


def built(*layers: dict[str, Any]) -> RunConfig:
    return build_config(*layers, {"task": "t"}, source="run.toml")


def problem(*layers: dict[str, Any]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        built(*layers)
    return caught.value


def test_the_stronger_layer_wins_field_by_field() -> None:
    config = built(
        {"seed": 3},
        {"seed": 2, "execution": {"workers": 4}},
        {"seed": 1, "execution": {"workers": 2, "batch_size": 8}, "readiness": "rpx-1"},
    )
    assert (config.seed, config.readiness) == (3, "rpx-1")
    assert (config.execution.workers, config.execution.batch_size) == (4, 8)


def test_layers_are_not_changed() -> None:
    weak = {"model": {"name": "a", "options": {"x": 1}}}
    strong = {"model": {"options": {"y": 2}}}
    merge_layers(strong, weak)
    assert weak == {"model": {"name": "a", "options": {"x": 1}}}
    assert strong == {"model": {"options": {"y": 2}}}


@pytest.mark.parametrize(
    ("strong", "weak", "merged"),
    [
        ("b", {"name": "a", "options": {"x": 1}}, {"name": "b"}),
        ("a", {"name": "a", "options": {"x": 1}}, {"name": "a", "options": {"x": 1}}),
        ({"name": "b"}, {"name": "a", "options": {"x": 1}}, {"name": "b"}),
        (
            {"name": "b", "options": {"y": 2}},
            {"name": "a", "options": {"x": 1}},
            {"name": "b", "options": {"y": 2}},
        ),
        ({"options": {"y": 2}}, "a", {"name": "a", "options": {"y": 2}}),
        (
            {"options": {"y": 2}},
            {"name": "a", "options": {"x": 1}},
            {"name": "a", "options": {"x": 1, "y": 2}},
        ),
        ("b", "a", {"name": "b"}),
    ],
)
def test_another_model_drops_the_options_of_the_one_it_replaces(
    strong: Any, weak: Any, merged: Any
) -> None:
    assert merge_layers({"model": strong}, {"model": weak}) == {"model": merged}


def test_a_limit_on_the_command_line_narrows_the_data_of_the_file() -> None:
    config = built({"data": {"limit": 5}}, {"data": "set.json"})
    assert (config.data.name, config.data.limit) == ("set.json", 5)


def test_other_data_keeps_split_and_limit_but_not_options() -> None:
    weak = {"name": "a.json", "split": "easy", "limit": 3, "options": {"root": "/data"}}
    config = built({"data": "b.json"}, {"data": weak})
    assert config.data.model_dump() == {
        "name": "b.json",
        "split": "easy",
        "limit": 3,
        "options": {},
    }


@pytest.mark.parametrize(
    ("strong", "weak", "expected"),
    [
        ("median:sequence", "none", ("median", "sequence")),
        ("median", "affine:sequence", ("median", "sample")),
        ({"scope": "sequence"}, "median", ("median", "sequence")),
        ("none", {"method": "median", "scope": "sequence"}, ("none", "sample")),
        ({"method": "median"}, {"scope": "sequence"}, ("median", "sequence")),
    ],
)
def test_an_alignment_has_a_short_form(strong: Any, weak: Any, expected: Any) -> None:
    align = built({"align": strong}, {"align": weak}).align
    assert (align.method, align.scope) == expected


def test_stronger_metrics_replace_all_weaker_ones() -> None:
    config = built({"metrics": {"a": "x"}}, {"metrics": {"b": {"name": "y"}}})
    assert config.metrics is not None
    assert {label: metric.name for label, metric in config.metrics.items()} == {"a": "x"}


def test_options_called_like_fields_are_merged_as_tables() -> None:
    strong = {"options": {"model": "b", "metrics": {"x": 1}}}
    weak = {"options": {"model": {"name": "a"}, "metrics": {"y": 2}}}
    assert merge_layers(strong, weak) == {"options": {"model": "b", "metrics": {"x": 1, "y": 2}}}


@pytest.mark.parametrize(
    ("layer", "says", "hint"),
    [
        ({"sede": 1}, "run.toml: sede: ", "seed"),
        ({"execution": {"worker": 2}}, "run.toml: execution.worker: ", "workers"),
        ({"data": {"name": "x", "splitt": "easy"}}, "run.toml: data.splitt: ", "split"),
        ({"align": {"metod": "median"}}, "run.toml: align.metod: ", "method"),
        ({"zzz": 1}, "run.toml: zzz: ", "known: task, model, data"),
    ],
)
def test_an_unknown_key_is_named_with_what_was_meant(
    layer: dict[str, Any], says: str, hint: str
) -> None:
    error = problem(layer)
    assert error.message.startswith(says)
    assert error.hint is not None
    assert hint in error.hint


@pytest.mark.parametrize(
    ("layer", "where"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"data": {"limit": 0}}, "data.limit"),
        ({"data": 5}, "data"),
        ({"model": ""}, "model.name"),
        ({"model": {}}, "model.name"),
        ({"metrics": {}}, "metrics"),
        ({"metrics": {"Bad Label": "x"}}, "metrics.Bad Label.[key]"),
        ({"align": {"scope": "world"}}, "align.scope"),
        ({"align": "median:world"}, "align.scope"),
        ({"readiness": "rpx-3"}, "readiness"),
        ({"execution": {"workers": 0}}, "execution.workers"),
        ({"execution": {"devices": []}}, "execution.devices"),
        ({"execution": {"executor": "ray"}}, "execution.executor"),
        ({"requires": {"a": 1}}, "requires.a"),
    ],
)
def test_a_bad_value_is_named(layer: dict[str, Any], where: str) -> None:
    assert problem(layer).message.startswith(f"run.toml: {where}: ")


def test_a_configuration_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        built().seed = 1  # type: ignore[misc]  # this is what must fail


@pytest.mark.parametrize(
    ("before", "address", "after"),
    [
        ({}, "seed", {"seed": 7}),
        ({}, "execution.workers", {"execution": {"workers": 7}}),
        ({"model": "m"}, "model.options.size", {"model": {"name": "m", "options": {"size": 7}}}),
        (
            {"align": "median:sequence"},
            "align.method",
            {"align": {"method": 7, "scope": "sequence"}},
        ),
        ({"data": "d"}, "data.limit", {"data": {"name": "d", "limit": 7}}),
    ],
)
def test_an_address_sets_one_field(before: Any, address: str, after: Any) -> None:
    set_field(before, address, 7)
    assert before == after


def test_an_address_through_a_value_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"seed\.x: seed is not a table"):
        set_field({"seed": 1}, "seed.x", 2)


def test_defaults_are_a_run_of_the_demo() -> None:
    config = RunConfig(task="t")
    assert (config.data.name, config.model, config.align, config.seed) == ("demo", None, Align(), 0)
