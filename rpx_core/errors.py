"""Every error a user can meet, one tree, and the exit codes the command line maps them to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells the shell; continuous integration relies on the values."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    """The command line or the configuration is wrong; nothing was computed."""
    INCOMPLETE = 3
    """The run did not finish, or more samples failed than `max_failed` allows."""
    PLUGIN = 4
    """A plugin that the run needs is broken, or any plugin under `--strict`."""
    INTERNAL = 5
    INTERRUPTED = 130


class RPXError(Exception):
    """A problem the user can act on: what happened, what was expected, what to do.

    `str()` gives the message and, on the next line, the hint. `details` holds machine-readable
    facts for `--json`; it never changes the text.
    """

    exit_code: ExitCode = ExitCode.INTERNAL

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process boundaries; the default would drop the keyword arguments.
        return (_rebuild, (type(self), self.message, self.hint, self.details))


class ConfigError(RPXError):
    """The command line, a configuration file or a name in it is wrong."""

    exit_code = ExitCode.USAGE


class DatasetError(RPXError):
    """The data cannot be read as declared."""

    exit_code = ExitCode.USAGE


class DownloadError(DatasetError):
    """The hub refused, is unreachable, or sent something else than was asked for."""


class ManifestError(DatasetError):
    """A manifest, or a file that it lists, breaks the format."""


class ModelError(RPXError):
    """A model cannot be built, or its prediction breaks the task's contract."""

    exit_code = ExitCode.USAGE


class AdapterError(ModelError):
    """An adapter met a model output that it does not understand."""


class TruthWithheldError(ModelError):
    """A model or adapter asked for the ground truth."""


class MetricError(RPXError):
    """A metric was given something it does not measure, or produced a value it must not."""

    exit_code = ExitCode.PLUGIN


class PluginError(RPXError):
    """A plugin is broken, or offers something that breaks its contract."""

    exit_code = ExitCode.PLUGIN


class JournalError(RPXError):
    """A run directory cannot be read or written."""

    exit_code = ExitCode.INCOMPLETE


class IncompleteRunError(RPXError):
    """The run ended before every selected sample had a row, or too many samples failed."""

    exit_code = ExitCode.INCOMPLETE


def last_words(error: BaseException, doing: str) -> RPXError:
    """What ended a process, as the process that waits for it can read and raise it.

    It is of a class of ours: that of a plugin, and its details, may exist in this process alone.
    Call it where the error is caught. What is no RPXError was not foreseen, in core or in what it
    uses: the traceback, which only this process has, goes along. `doing` is what failed with it.
    """
    import json
    import traceback

    if not isinstance(error, RPXError):
        return RPXError(
            f"{doing} failed:\n{traceback.format_exc()}",
            hint="the last frames name what raised: a library, or rpx, where it is a bug to report",
        )
    try:
        details = json.loads(json.dumps(error.details))
    except (TypeError, ValueError, RecursionError):
        details = {}
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == __name__)
    plain: RPXError = kind(error.message, hint=error.hint, details=details)
    return plain


def kind_of(value: object) -> str:
    """What a value is, with its article, as a message says it: "an int", "a list", "None"."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def count_of(number: int, one: str, many: str | None = None) -> str:
    """A number of things, as a message says it: "1 box", "2 boxes"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def first_few(names: Sequence[str], most: int = 10) -> str:
    """The first of many names, as a message shows them."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _rebuild(
    kind: type[RPXError], message: str, hint: str | None, details: Mapping[str, object]
) -> RPXError:
    return kind(message, hint=hint, details=details)
