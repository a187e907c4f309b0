"""The code of the page on profiling runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.profiling.modules import find_modules
from rpx_core.profiling.parameters import count_parameters

PAGE = Path(__file__).parents[2] / "docs" / "profiling.md"
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def run(snippet: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(snippet, str(PAGE), "exec"), names)
    return names


def test_the_module_that_a_function_names_is_the_one_that_counts() -> None:
    predict = run(SNIPPETS[0])["predict"]
    assert predict(np.zeros((6, 8, 3), np.uint8)).shape == (6, 8)
    assert count_parameters(find_modules(predict)).total.value == 3 * 9 + 1


def test_profiling_without_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    run(SNIPPETS[1])
    assert "Latency (ms/sample)" in capsys.readouterr().out
    assert len(SNIPPETS) == 2
