"""The code of the page on profiling runs as it stands there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rpx_core.profiling.modules import find_modules
from rpx_core.profiling.parameters import count_parameters
from tests.document_blocks import Block, take

MODULES = take("docs/profiling.md", "python", "predict.module")
ALONE = take("docs/profiling.md", "python", "rpx.profile_model")


def run(snippet: Block) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(snippet.text, str(snippet), "exec"), names)
    return names


def test_the_module_that_a_function_names_is_the_one_that_counts() -> None:
    (snippet,) = MODULES
    predict = run(snippet)["predict"]
    assert predict(np.zeros((6, 8, 3), np.uint8)).shape == (6, 8)
    assert count_parameters(find_modules(predict)).total.value == 3 * 9 + 1


def test_profiling_without_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = ALONE
    run(snippet)
    assert "Latency (ms/sample)" in capsys.readouterr().out
