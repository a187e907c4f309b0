"""The guide for plugin authors says what is true: hooks, names, options of commands."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from rpx_core import hookspecs, testing
from rpx_core.cli.check import check
from rpx_core.conformance.statement import Statement
from rpx_core.hookspecs import hookimpl
from rpx_core.offers import HOOKS
from rpx_core.skeletons.writer import write_skeleton
from tests.document_blocks import ROOT, take
from tests.toys.site import ToySite

PAGE = "docs/plugins.md"
GUIDE = (ROOT / PAGE).read_text(encoding="utf-8")
HOOK_LIST = take(PAGE, "python", "def rpx_run_started")
ENTRY_MODULE = take(PAGE, "python", "@hookimpl")
CONFTEST = take(PAGE, "python", "pytest_plugins")
TEST_MODULE = take(PAGE, "python", "conformance(")
COMMANDS = take(PAGE, "console")
ENTRY_POINT = take(PAGE, "toml", "[project.entry-points.rpx]")
STATEMENT = take(PAGE, "toml", "[explain]")


def signatures(source: str) -> dict[str, str]:
    """Every hook of some source code, as `(arguments) -> result`."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("rpx_"):
            result = ast.unparse(node.returns) if node.returns else None
            found[node.name] = f"({ast.unparse(node.args)}) -> {result}"
    return found


def test_the_hooks_shown_are_the_hooks_there_are():
    (shown,) = HOOK_LIST.texts
    assert signatures(shown) == signatures(inspect.getsource(hookspecs))
    assert tuple(signatures(shown)) == HOOKS


def test_the_example_entry_module_returns_specs():
    (example,) = ENTRY_MODULE.texts
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


@pytest.fixture
def desk(tmp_path: Path) -> Callable[[str], str]:
    """Type a command in a folder; what pip installs there is on the path from then on."""
    site = tmp_path / "rpx-my-model"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    def type_in(command: str) -> str:
        if command.startswith("pip install "):
            metadata = "Requires-Dist: rpx-core>=0.1,<0.2"
            points = tomllib.loads((site / "pyproject.toml").read_text())["project"]["entry-points"]
            toys = ToySite(site, core=None)
            toys.distribution("rpx-my-model", metadata=metadata, entry_points=points["rpx"])
            return ""
        done = subprocess.run(
            ["sh", "-ec", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return type_in


def test_a_package_is_written_run_checked_and_tested_as_the_guide_says(
    desk: Callable[[str], str], tmp_path: Path
) -> None:
    for block in COMMANDS:
        for command in block.commands:
            shown = desk(command)
            assert "rpx check" not in command or " 0 failed" in shown
    tests = tmp_path / "rpx-my-model" / "tests"
    (tests / "conftest.py").write_text("".join(CONFTEST.texts), encoding="utf-8")
    (tests / "test_conformance.py").write_text("".join(TEST_MODULE.texts), encoding="utf-8")
    shown = desk(f"python -m pytest -q -p no:cacheprovider {tests}/test_conformance.py")
    assert re.search(r"^\d\d+ passed in", shown, re.MULTILINE)


def test_the_entry_point_shown_is_the_one_that_is_written(tmp_path: Path) -> None:
    (shown,) = ENTRY_POINT.texts
    folder = write_skeleton("model", "my-model", tmp_path)
    written = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    assert tomllib.loads(shown)["project"]["entry-points"] == written["project"]["entry-points"]


def test_the_statement_shown_is_one() -> None:
    (shown,) = STATEMENT.texts
    said = Statement.model_validate(tomllib.loads(shown))
    assert said.options
    assert said.explain
    assert said.skip


def test_every_option_that_explains_a_skip_is_one_of_check():
    table = GUIDE[GUIDE.index("| option | explains |") : GUIDE.index("An output whose")]
    shown = set(re.findall(r"^\| `(--[\w-]+)", table, re.MULTILINE))
    known = {option for param in check.params for option in param.opts}
    assert shown <= known
    assert shown == {"--allow-missing-extras", "--set", "--data", "--skip"}
