"""The guide for plugin authors says what is true: hooks, names, options of commands."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from pathlib import Path

import click
import pytest

from rpx_core import hookspecs, testing
from rpx_core.cli import COMMANDS, cli
from rpx_core.cli.check import check
from rpx_core.hookspecs import hookimpl
from rpx_core.offers import HOOKS

GUIDE = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def signatures(source: str) -> dict[str, str]:
    """Every hook of some source code, as `(arguments) -> result`."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("rpx_"):
            result = ast.unparse(node.returns) if node.returns else None
            found[node.name] = f"({ast.unparse(node.args)}) -> {result}"
    return found


def test_the_hooks_shown_are_the_hooks_there_are():
    (shown,) = (block for block in blocks("python") if "rpx_run_started" in block)
    assert signatures(shown) == signatures(inspect.getsource(hookspecs))
    assert tuple(signatures(shown)) == HOOKS


def test_the_example_entry_module_returns_specs():
    (example,) = (block for block in blocks("python") if "@hookimpl" in block)
    space: dict[str, object] = {}
    exec(compile(example, "docs/plugins.md", "exec"), space)
    (spec,) = space["rpx_models"]()
    assert spec.name == "my-model"
    assert space["hookimpl"] is hookimpl


def test_every_spec_is_in_the_table():
    rows = set(re.findall(r"^\| `(\w+Spec)` \|", GUIDE, re.MULTILINE))
    assert rows == {name for name in vars(hookspecs) if name.endswith("Spec")}


def test_the_names_for_tests_are_there():
    table = GUIDE[GUIDE.index("| name | what it does |") : GUIDE.index("They raise")]
    cells = re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(\w+)", cell)]
    assert {"conformance", "check_metric", "check_perfect"} <= set(names)
    assert all(callable(getattr(testing, name)) for name in names)
    for fixture in re.findall(r"^\| fixture `(\w+)`", table, re.MULTILINE):
        assert hasattr(testing, fixture)


@pytest.mark.parametrize("block", blocks("toml"))
def test_toml_parses(block):
    assert tomllib.loads(block)


def test_commands_shown_are_commands_with_these_options():
    lines = [line for block in blocks("bash") for line in block.splitlines() if "rpx " in line]
    verbs = [line.split("rpx ", 1)[1].split()[0] for line in lines if line.startswith("rpx ")]
    assert verbs
    for line in lines:
        if not line.startswith("rpx "):
            continue
        words = line.split("#")[0].split()
        assert words[1] in COMMANDS
        command = cli.get_command(click.Context(cli), words[1])
        known = {option for param in command.params for option in param.opts}
        assert {word for word in words if word.startswith("--")} <= known, line


def test_every_option_that_explains_a_skip_is_one_of_check():
    table = GUIDE[GUIDE.index("| option | explains |") : GUIDE.index("An output whose")]
    shown = set(re.findall(r"^\| `(--[\w-]+)", table, re.MULTILINE))
    known = {option for param in check.params for option in param.opts}
    assert shown <= known
    assert shown == {"--allow-missing-extras", "--set", "--data", "--skip"}
