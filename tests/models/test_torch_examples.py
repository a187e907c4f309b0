"""The examples that need torch and transformers run as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_examples import NEED_TORCH, commands_of, copy_examples, run


@pytest.mark.parametrize("script", sorted(NEED_TORCH))
def test_an_example_runs_as_it_says(tmp_path: Path, script: str) -> None:
    examples = copy_examples(tmp_path)
    commands = commands_of((examples / script).read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        run(command, examples)
