"""Fitting predictions to the truth by the task's own method, and checking what it returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rpx_core.contracts import Aligned, Frame, Task
from rpx_core.errors import PluginError, count_of, kind_of


def fit(task: Task[Any, Any], method: str, frames: Sequence[Frame]) -> list[Aligned[Any] | None]:
    """Aligned predictions, None where the fit is undefined; PluginError for anything else."""
    aligned = list(task.align(method, frames))
    if len(aligned) != len(frames):
        raise PluginError(
            f"align() returned {count_of(len(aligned), 'result')} for "
            f"{count_of(len(frames), 'frame')}"
        )
    return [None if result is None else _checked(result) for result in aligned]


def _checked(result: object) -> Aligned[Any]:
    if not isinstance(result, Aligned):
        raise PluginError(f"align() returned {kind_of(result)}; Aligned or None was expected")
    if not isinstance(result.note, str | None):
        raise PluginError(f"align() notes {kind_of(result.note)}; a text was expected")
    facts = {str(key): float(value) for key, value in result.facts.items()}
    for key, value in facts.items():
        if not math.isfinite(value):
            raise PluginError(
                f"align() says that {key} is {value}; return None where the fit is undefined"
            )
    return replace(result, facts=facts)
