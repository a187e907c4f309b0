"""`rpx list`: kinds in either number, and what one entry takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.cli import invoke
from rpx_core.option_table import tabulate_options


class Mode(Enum):
    FAST = "fast"
    SAFE = "safe"


class Inner(BaseModel):
    """Nested."""

    depth: int = 3


class Everything(BaseModel):
    """What options can look like."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights: str = Field(description="a file of weights")
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.5
    mode: Mode = Mode.FAST
    kind: Literal["a", "b"] = "a"
    sizes: tuple[int, ...] = (1, 2)
    pair: tuple[float, float] = (0.0, 1.0)
    names: frozenset[str] = frozenset({"z", "y"})
    table: dict[str, int] = Field(default_factory=dict)
    maybe: int | None = None
    inner: Inner = Inner()
    free: Any = None


@pytest.mark.parametrize(
    ("name", "kind", "default"),
    [
        ("weights", "str", None),
        ("threshold", "float, > 0, <= 1", "0.5"),
        ("mode", '"fast" or "safe"', '"fast"'),
        ("kind", '"a" or "b"', '"a"'),
        ("sizes", "list of int", "[1,2]"),
        ("pair", "[float, float]", "[0.0,1.0]"),
        ("names", "set of str", '["y","z"]'),
        ("table", "table of str to int", "{}"),
        ("maybe", "int or null", "null"),
        ("inner", "Inner", '{"depth":3}'),
        ("free", "anything", "null"),
    ],
)
def test_an_option_is_shown_with_its_type_and_default(name, kind, default):
    (option,) = (one for one in tabulate_options(Everything).options if one.name == name)
    assert (option.type, option.default) == (kind, default)


def test_descriptions_are_those_of_the_author():
    table = tabulate_options(Everything)
    assert table.summary == "What options can look like."
    assert table.options[0].description == "a file of weights"


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    def run(*arguments: str) -> dict[str, Any]:
        assert invoke(["list", *arguments, "--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


@pytest.mark.parametrize("word", ["metric", "reporter", "dataset"])
def test_a_kind_may_be_written_in_the_singular(listed, word):
    found = listed(word)
    assert list(found) == [f"{word}s"]
    assert found == listed(f"{word}s")


def test_a_whole_name_shows_that_entry_with_its_options(listed):
    (entry,) = listed("metric", "sgc")["metrics"]
    (option,) = entry["options"]
    assert (option["name"], option["default"], option["required"]) == ("tolerance_px", "3.0", False)
    assert listed("metrics", "rpx-core/sgc")["metrics"] == [entry]


def test_part_of_a_name_shows_all_that_have_it_and_imports_no_options(listed):
    entries = listed("metrics", "sg")["metrics"]
    assert {"sgc", "sgc-published"} <= {entry["name"] for entry in entries}
    assert all("options" not in entry for entry in entries)


def test_options_are_printed_for_people(capsys):
    assert invoke(["list", "metric", "sgc"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "options of sgc type default" in printed
    assert "tolerance_px float, >= 0, <= 64 3.0" in printed
    assert "may lie and still agree" in printed


def test_an_unknown_kind_suggests_one(capsys):
    assert invoke(["list", "modl"]) == 2
    assert "did you mean models?" in capsys.readouterr().err


KINDS = ("task", "model", "metric", "dataset", "protocol", "reporter", "adapter", "plugin")


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_nothing_has_is_a_mistake_of_the_user(kind, capsys):
    for name in ("nosuchthing", "nosuch/thing") if kind != "plugin" else ("nosuchthing",):
        assert invoke(["list", kind, name]) == 2
        told = capsys.readouterr()
        assert name.partition("/")[0] in told.err
        assert told.out == ""


@pytest.mark.parametrize(
    ("arguments", "close"),
    [
        (["model", "ground-plain"], "ground-plane"),
        (["metrics", "scg"], "sgc"),
        (["reporters", "mrkdown"], "markdown"),
        (["datasets", "dmeo"], "demo"),
        (["tasks", "monocular-depht"], "monocular_depth"),
        (["plugins", "rpx-dpeth"], "rpx-depth"),
    ],
)
def test_a_misspelt_name_is_suggested(arguments, close, capsys):
    assert invoke(["list", *arguments]) == 2
    assert f"did you mean {close}" in capsys.readouterr().err


def test_an_unknown_name_is_an_object_under_json(capsys):
    assert invoke(["list", "model", "ground-plain", "--json"]) == 2
    assert "ground-plane" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_a_distribution_may_be_written_in_any_spelling(listed):
    (entry,) = listed("metric", "RPX_Core/sgc")["metrics"]
    assert entry["full_name"] == "rpx-core/sgc"


def test_plugins_can_be_looked_up_by_name(listed):
    found = listed("plugins", "rpx-depth")
    assert {plugin["distribution"] for plugin in found["plugins"]} == {"rpx-depth"}
    assert list(found["offers"]) == ["rpx-depth"]


def test_without_a_terminal_an_entry_is_one_line(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert invoke(["list", "models", "--json"]) == 0
    names = [entry["name"] for entry in json.loads(capsys.readouterr().out)["models"]]
    assert invoke(["list", "models"]) == 0
    _, *lines = capsys.readouterr().out.rstrip().splitlines()
    assert [line.split()[0] for line in lines] == names
