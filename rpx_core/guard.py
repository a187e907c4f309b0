"""Running plugin code for one sample: what it raises becomes a failure of that sample alone."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rpx_core.errors import JournalError, RPXError
from rpx_core.report import Failure, Stage
from rpx_core.stored_text import storable

_OWN = Path(__file__).parent


def guarded(stage: Stage, work: Callable[[], Any]) -> Any:
    """The result of plugin code, or the Failure that it is; a full disk ends the worker.

    With RPX_DEBUG set the traceback goes to stderr too.
    """
    try:
        return work()
    except JournalError:
        raise
    except (Exception, SystemExit) as error:
        if os.environ.get("RPX_DEBUG"):
            traceback.print_exc(file=sys.stderr)
        hint = error.hint if isinstance(error, RPXError) else None
        if isinstance(error, ValueError) and "read-only" in str(error):
            hint = "samples are shared with the metrics: change a copy, as of sample.rgb.copy()"
        return Failure(
            stage=stage,
            error=type(error).__name__,
            message=describe_error(error),
            hint=hint or None,
            where=None if isinstance(error, RPXError) else _where(error),
        )


def describe_error(error: BaseException) -> str:
    """What an exception says, even if its own `__str__` raises, as text that can be stored."""
    if isinstance(error, RPXError):
        text = error.message
    else:
        text = str(traceback.TracebackException.from_exception(error))
    return storable(text)


def _where(error: BaseException) -> str | None:
    """The innermost line outside rpx's core, as `file.py:12`."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if not path.is_relative_to(_OWN):
            return f"{path.name}:{frame.lineno}"
    return None
