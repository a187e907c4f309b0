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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from pydantic import ValidationError

from rpx_core.cli import cli
from rpx_core.config import Named, RunConfig, build_config
from rpx_core.datasets import known_assets
from rpx_core.host import Host
from rpx_core.hub.origin import RELEASE, RELEASE_COMMIT
from rpx_core.manifest import build_manifest
from rpx_core.offers import Kind
from rpx_core.parts import load_options_class
from tests.document_blocks import (
    PAGES,
    ROOT,
    Block,
    all_blocks,
    name_of,
    others_take,
    parse_blocks,
    read_blocks,
)
from tests.hub_sets import draw_frames, early_layout, released_layout
from tests.local_hub import LocalHub

RUN_HERE = frozenset({"python", "console"})
CHECKED_HERE = frozenset({"json", "toml", "sh"})
SHOWN = "text"
"""What a program prints, or a picture in letters: nothing to type."""
INSTALLATION = frozenset({"README.md", "CONTRIBUTING.md"})
"""Pages with commands for a bare machine, in blocks without a language; tested below."""
EASY_AND_HARD = (0, 8)
"""Scenes of the demo."""
ON_THE_HUB = "docs/data.md"


def is_taken(block: Block) -> bool:
    """Whether a test of this module, or another that says so, runs or checks a block."""
    if not block.language:
        return block.page in INSTALLATION
    if block.language == SHOWN:
        return re.search(r"^(\$|rpx|pip) ", block.text, re.MULTILINE) is None
    return block in others_take() or block.language in RUN_HERE | CHECKED_HERE


def test_every_block_is_run_or_checked_by_a_test() -> None:
    assert [str(block) for block in all_blocks() if not is_taken(block)] == []


@pytest.mark.parametrize(
    "fence", ["", "text", "bash", "yaml", 'py title="x.py"'], ids=lambda fence: fence or "none"
)
def test_a_block_that_nobody_would_run_is_noticed(fence: str) -> None:
    (block,) = parse_blocks(f"# A page\n\n```{fence}\nrpx run\n```\n", "docs/page.md")
    assert not is_taken(block)


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, bytes]]:
    """What the page on data finds on the hub, by repository and revision."""
    folder = tmp_path_factory.mktemp("drawn")
    records = draw_frames(folder, EASY_AND_HARD)
    assert {record["difficulty"] for record in records} == {"easy", "hard"}
    return {
        (RELEASE, RELEASE_COMMIT): released_layout(folder, records),
        ("me/my-scenes", "main"): early_layout(folder, records),
    }


@pytest.fixture
def reader(request: pytest.FixtureRequest, page: Path) -> dict[str, str]:
    """The environment of someone who reads a page; the hub that it knows is on this machine."""
    if name_of(page) == ON_THE_HUB:
        hub: LocalHub = request.getfixturevalue("hub")
        for (repo, revision), files in request.getfixturevalue("release").items():
            hub.push(repo, files)
            hub.commits[repo, revision] = files
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": ""}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_and_snippet_of_a_page_runs(
    page: Path, tmp_path: Path, reader: Mapping[str, str]
) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    for block in read_blocks(page):
        if block.title is not None:
            (desk / block.title).write_text(block.text, encoding="utf-8")
        if block in others_take():
            continue
        if block.language == "python":
            run([sys.executable, "-c", block.text], desk, reader)
        elif block.language == "console":
            assert block.commands, f"{block}: a console block without a command"
            for command in block.commands:
                # What is installed here is what the reader would have installed by then.
                if shlex.split(command)[0] != "pip":
                    run(["sh", "-ec", command], desk, reader)


def of_language(language: str) -> list[Block]:
    found = [block for block in all_blocks() if block.language == language]
    return [block for block in found if block not in others_take()]


@pytest.fixture(scope="module")
def host() -> Host:
    return Host.discover()


@pytest.mark.parametrize("block", of_language("json"), ids=str)
def test_every_manifest_shown_is_one(host: Host, block: Block, tmp_path: Path) -> None:
    header = json.loads(block.text)
    samples = header.pop("samples")
    manifest = build_manifest(header, samples, root=tmp_path, known=known_assets(host))
    assert len(manifest.records(manifest.entries)) == len(samples)


@pytest.mark.parametrize("block", of_language("toml"), ids=str)
def test_every_configuration_shown_is_one(host: Host, block: Block) -> None:
    config = build_config(tomllib.loads(block.text), source=str(block))
    for kind, named in parts_of(config):
        offers = [o for o in host.offers(kind).values() if named.name in (o.spec.name, o.full_name)]
        assert offers, f"{block}: no {kind} {named.name}"
        assert any(accepts(offer.spec.options, named.options) for offer in offers), str(block)


def parts_of(config: RunConfig) -> list[tuple[Kind, Named]]:
    parts: list[tuple[Kind, Named]] = [
        ("metric", named) for named in (config.metrics or {}).values()
    ]
    return [*parts, ("model", config.model)] if config.model else parts


def accepts(options: str | None, given: Mapping[str, Any]) -> bool:
    if options is None:
        return not given
    try:
        load_options_class(options, "the documentation").model_validate(dict(given))
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("block", of_language("sh"), ids=str)
def test_commands_that_need_more_than_this_machine_have_options_that_exist(
    host: Host, block: Block
) -> None:
    found = [
        shlex.split(command, comments=True)
        for command in block.commands or block.text.replace("\\\n", " ").splitlines()
    ]
    commands = [words[1:] for words in found if words[:1] == ["rpx"]]
    assert commands, f"{block}: nothing of it is checked"
    for words in commands:
        given = check_options(words)
        for kind in ("task", "protocol"):
            if name := given.get(kind):
                assert host.find(kind, name), f"{block}: {name}"


def check_options(words: list[str]) -> dict[str, Any]:
    """Parse a command; files and folders that it names need not be there."""
    command: click.Command = cli
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"no command {words[0]}"
        command, words = found, words[1:]
    parsed = copy.copy(command)
    parsed.params = [_without_path(parameter) for parameter in command.params]
    return dict(parsed.make_context(command.name, words).params)


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


def test_contributors_install_what_there_is() -> None:
    page = ROOT / "CONTRIBUTING.md"
    plain, inside = (block.text for block in read_blocks(page) if not block.language)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert " && ".join(plain.splitlines()).replace("install ", "install -q ") in readme
    assert set(re.findall(r"--group (\S+)", inside)) <= set(project["dependency-groups"])
    assert all((ROOT / test).is_file() for test in re.findall(r"pytest (\S+)", inside))


def test_contributors_are_told_of_every_session() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sessions = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    named = re.findall(r'@nox\.session(?:\(.*?name="([\w-]+)".*?\)|.*?)\ndef (\w+)', sessions)

    told = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    assert told == {name or function for name, function in named} - {"build"}


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
