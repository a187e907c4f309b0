"""Every command and snippet of the documentation runs, in order, as a reader would run them."""

from __future__ import annotations

import copy
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from rpx_core.cli import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = {
    "docs/data.md": "tests/test_hub_commands.py",
    "docs/models.md": "tests/models/test_models_page.py",
    "docs/plugins.md": "tests/test_plugin_guide.py",
    "docs/profiling.md": "tests/models/test_profiling_docs.py",
}
"""Pages whose Python needs torch, or is shown in parts; their own tests run it."""
BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the file that it is to be saved as, its text."""

    language: str
    title: str | None
    text: str


def read_blocks(page: Path) -> list[Block]:
    blocks = []
    for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
        language, _, rest = match["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        blocks.append(Block(language, title[1] if title else None, match["text"]))
    return blocks


def commands(block: Block) -> list[str]:
    return [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_and_snippet_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": "",
    }
    name = page.relative_to(ROOT).as_posix()
    for block in read_blocks(page):
        if block.title is not None:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python" and name not in ELSEWHERE:
            run([sys.executable, "-c", block.text], tmp_path, environment)
        elif block.language == "console":
            assert commands(block), f"{page.name}: a console block without a command"
            for command in commands(block):
                # What is installed here is what the reader would have installed by then.
                if shlex.split(command)[0] != "pip":
                    run(["sh", "-ec", command], tmp_path, environment)


def test_what_is_not_run_here_is_run_elsewhere() -> None:
    assert all(
        (ROOT / page).is_file() and (ROOT / test).is_file() for page, test in ELSEWHERE.items()
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_that_need_more_than_this_machine_have_options_that_exist(page: Path) -> None:
    for block in read_blocks(page):
        if block.language in {"sh", "bash"}:
            for command in commands(block) or block.text.splitlines():
                words = shlex.split(command, comments=True)
                if words[:1] == ["rpx"]:
                    check_options(words[1:])


def check_options(words: list[str]) -> None:
    """Parse a command; files and folders that it names need not be there."""
    command: click.Command = cli
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"no command {words[0]}"
        command, words = found, words[1:]
    parsed = copy.copy(command)
    parsed.params = [_without_path(parameter) for parameter in command.params]
    parsed.make_context(command.name, words)


def _without_path(parameter: click.Parameter) -> click.Parameter:
    parsed = copy.copy(parameter)
    if isinstance(parameter.type, click.Path):
        parsed.type = click.STRING
    return parsed


def test_the_readme_installs_and_tests_with_one_command_each() -> None:
    plain = [block.text for block in read_blocks(ROOT / "README.md") if not block.language]
    continuous = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert [text.count("\n") for text in plain] == [1, 1]
    assert plain[0].rstrip().endswith("rpx run")
    assert plain[1].rstrip().endswith("nox")
    for step in plain[1].split(" && ")[1:]:
        assert step.strip() in continuous


def run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
