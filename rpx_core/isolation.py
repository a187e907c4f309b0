"""Running code of others in the parent: what it raises becomes a value or one error.

What it prints goes to stderr: stdout may owe its reader a document. Samples are guarded one by
one, in `guard.py`.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from types import TracebackType
from typing import Any, TypeVar

from rpx_core.errors import ConfigError, PluginError, RPXError
from rpx_core.interrupts import is_interrupt
from rpx_core.stored_text import storable
from rpx_core.streams import stdout_to_stderr

R = TypeVar("R")

_OUR_FRAMES = ("rpx_core.host", "rpx_core.isolation", "rpx_core.registration")
_MACHINERY = ("importlib", "importlib_metadata", "pluggy")
_LONGEST_PROBLEM = 300
_WHOLE_TRACEBACK = "RPX_DEBUG=1 shows the whole traceback"


@dataclass(frozen=True)
class Breakdown:
    """What went wrong in foreign code: a line for people, and the evidence."""

    problem: str
    error: BaseException | None = None
    traceback: str | None = None
    """From where the foreign code begins; None where it was not reached."""


def attempt(doing: str, call: Callable[[], R]) -> R | Breakdown:
    """The result of foreign code, or how it broke down; what it prints goes to stderr.

    `doing` is how the problem begins, as in "import of toy:load failed".
    """
    try:
        # The output of `--json` is on stdout.
        with stdout_to_stderr():
            return call()
    except BaseException as error:  # SystemExit too: a plugin must not end the command
        if is_interrupt(error):
            raise
        return _breakdown(doing, error)


def load_target(target: str, *, wanted_by: str) -> Any:
    """The object that a spec's `package.module:attribute` names.

    Raises PluginError that names `wanted_by`, with the cause chained, whatever the import does.
    """
    module, _, attribute = target.partition(":")
    loaded = attempt(
        f"import of {target}", lambda: attrgetter(attribute)(importlib.import_module(module))
    )
    if isinstance(loaded, Breakdown):
        missing = loaded.error.name if isinstance(loaded.error, ModuleNotFoundError) else None
        hint = f"install what provides the module {missing!r}" if missing else None
        raise PluginError(f"{wanted_by}: {loaded.problem}", hint=hint) from loaded.error
    return loaded


def call_plugin(doing: str, call: Callable[[], R]) -> R:
    """The result of plugin code that runs in the parent; what it raises becomes one RPXError.

    An RPXError passes as it is: the plugin said what is wrong.
    """
    outcome = attempt(doing, call)
    if isinstance(outcome, Breakdown):
        if isinstance(outcome.error, RPXError):
            raise outcome.error
        raise PluginError(outcome.problem, hint=_WHOLE_TRACEBACK) from outcome.error
    return outcome


def import_user_code(doing: str, call: Callable[[], R]) -> R:
    """The result of importing a user's own code; whatever it raises becomes one ConfigError."""
    loaded = attempt(doing, call)
    if isinstance(loaded, Breakdown):
        raise ConfigError(loaded.problem, hint=_WHOLE_TRACEBACK) from loaded.error
    return loaded


def error_text(error: BaseException) -> str:
    """What an exception says, even if its own `__str__` raises, as text that can be stored."""
    try:
        text = error.message if isinstance(error, RPXError) else None
    except Exception:  # a message that is a property of a plugin's own class
        text = None
    if not isinstance(text, str):
        text = str(traceback.TracebackException.from_exception(error))
    return storable(text)


def one_line(text: str) -> str:
    """Foreign text on one line of bounded length, without control characters."""
    line = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST_PROBLEM else f"{line[: _LONGEST_PROBLEM - 1]}…"


def _breakdown(doing: str, error: BaseException) -> Breakdown:
    foreign = _foreign(error.__traceback__)
    text = "".join(traceback.format_exception(type(error), error, foreign))
    problem = error_text(error)
    if not isinstance(error, RPXError):
        problem = f"{doing} failed: {type(error).__name__}: {problem}"
    return Breakdown(one_line(problem), error, text if foreign is not None else None)


def _foreign(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that starts in the plugin's own code, if it got that far."""
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module not in _OUR_FRAMES and module.partition(".")[0] not in _MACHINERY:
            break
        trace = trace.tb_next
    return trace
