"""Every example runs as its own text says; those that need torch run in the session `models`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.document_blocks import take

PLUGIN = take("examples/metric_plugin/README.md", "console")
EXAMPLES = Path(__file__).parents[1] / "examples"
NEED_TORCH = frozenset({"huggingface_folder.py", "torch_module.py"})
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name not in NEED_TORCH)


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy of the examples to run in."""
    return copy_examples(tmp_path)


def copy_examples(folder: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, folder / "examples"))


def commands_of(text: str) -> list[str]:
    return re.findall(r"^\s*\$ (.+)$", text.replace("\\\n", " "), re.MULTILINE)


def run(command: str, folder: Path, site: Path | None = None) -> str:
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(site or ""),
    }
    done = subprocess.run(
        ["sh", "-ec", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_runs_as_it_says(examples: Path, script: str) -> None:
    commands = commands_of((examples / script).read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        run(command, examples)


def test_a_metric_of_another_package_is_measured(examples: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = f"{sys.executable} -m pip install --quiet --no-deps --target {site}"
    listing, *others = (command for block in PLUGIN for command in block.commands)
    assert listing == "pip install ./metric_plugin"
    run(f"{install} ./metric_plugin", examples)
    for command in others:
        shown = run(command, examples, site)
    assert "reach.right" in shown
    tests = examples / "metric_plugin/tests"
    run(f"{sys.executable} -m pytest -q -p no:cacheprovider {tests}", tmp_path, site)
