"""Running plugin code for one sample: what it raises becomes a failure of that sample alone."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from rpx_core.errors import JournalError, RPXError
from rpx_core.interrupts import is_interrupt
from rpx_core.isolation import error_text
from rpx_core.report import Failure, Stage

R = TypeVar("R")

Guard = Callable[[Stage, Callable[[], Any]], Any]
"""Runs plugin code of a stage, and returns its result or a Failure, or lets it raise."""

_OWN = Path(__file__).parent


def guarded(stage: Stage, work: Callable[[], R]) -> R | Failure:
    """The result of plugin code, or the Failure that it is; a full disk ends the worker.

    With RPX_DEBUG set the traceback goes to stderr too.
    """
    try:
        return work()
    except JournalError:
        raise
    except BaseException as error:
        # Also SystemExit, asyncio.CancelledError, GeneratorExit: what foreign code ends with.
        if is_interrupt(error):
            raise
        if os.environ.get("RPX_DEBUG"):
            traceback.print_exc(file=sys.stderr)
        hint = error.hint if isinstance(error, RPXError) else None
        if isinstance(error, ValueError) and "read-only" in str(error):
            hint = "samples are shared with the metrics: change a copy, as of sample.rgb.copy()"
        return Failure(
            stage=stage,
            error=type(error).__name__,
            message=error_text(error),
            hint=hint or None,
            where=None if isinstance(error, RPXError) else _where(error),
        )


def _where(error: BaseException) -> str | None:
    """The innermost line outside rpx's core, as `file.py:12`."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if not path.is_relative_to(_OWN):
            return f"{path.name}:{frame.lineno}"
    return None
