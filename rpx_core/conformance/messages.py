"""What the process that checks a package tells the one that waits: plain data, read strictly.

Code of the package runs where this is written. Whatever it sends, nothing of it is executed here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rpx_core import errors
from rpx_core.conformance.laws import Outcome
from rpx_core.conformance.suite import Conformance
from rpx_core.documents import read_json, to_json
from rpx_core.errors import PluginError, RPXError
from rpx_core.stored_text import MAX_NAME, storable

MAX_EVIDENCE = 100_000
"""Characters of a traceback, or of an error that holds one."""
_MAX_DETAIL = 10_000


@dataclass(frozen=True)
class _Words:
    """An error, by the name of its class in `rpx_core.errors`."""

    kind: str
    message: str
    hint: str | None
    details: dict[str, Any]


@dataclass(frozen=True)
class _Message:
    """One of the two."""

    found: Conformance | None = None
    error: _Words | None = None


_MESSAGE = TypeAdapter(_Message)


def write_message(outcome: Conformance | RPXError) -> bytes:
    """What became of the checks, or the error that ended them; endless texts are cut."""
    if isinstance(outcome, RPXError):
        hint = None if outcome.hint is None else storable(outcome.hint)
        text = storable(outcome.message, MAX_EVIDENCE)
        message = _Message(error=_Words(type(outcome).__name__, text, hint, outcome.details))
    else:
        told = [_storable(one) for one in outcome.outcomes]
        message = _Message(found=replace(outcome, outcomes=told))
    return to_json(_MESSAGE.dump_python(message, mode="json"))


def read_message(data: bytes, package: str) -> Conformance | RPXError:
    """What `write_message` wrote; raises PluginError for anything else."""
    document = read_json(data, source=f"what the check of {package} sent", error=PluginError)
    try:
        message = _MESSAGE.validate_json(data, strict=True)
    except ValidationError as problem:
        raise _refused(package) from problem
    # Nothing beside what is known: it must say the same when written again.
    if _MESSAGE.dump_python(message, mode="json") != document:
        raise _refused(package)
    if message.error is None:
        if message.found is None:
            raise _refused(package)
        return message.found
    kind = getattr(errors, message.error.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, RPXError)):
        raise _refused(package)
    return kind(message.error.message, hint=message.error.hint, details=message.error.details)


def _storable(outcome: Outcome) -> Outcome:
    trace = outcome.traceback
    return replace(
        outcome,
        subject=storable(outcome.subject, MAX_NAME),
        law=storable(outcome.law, MAX_NAME),
        detail=storable(outcome.detail, _MAX_DETAIL),
        traceback=None if trace is None else storable(trace, MAX_EVIDENCE),
    )


def _refused(package: str) -> PluginError:
    return PluginError(
        f"the process that checked {package} sent something else than the outcomes of checks",
        hint="plugin code must leave that process alone: look for what it does on import",
    )
