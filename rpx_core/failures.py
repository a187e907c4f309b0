"""Failures of one kind, told once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rpx_core.report import FailedSample, Failure

_ANY = "…"


@dataclass(frozen=True)
class FailureKind:
    """What failed in the same way: how, and the ids of all that did, in order."""

    failure: Failure
    ids: tuple[str, ...]


def group_failures(failures: Iterable[FailedSample]) -> list[FailureKind]:
    """Failures that differ only in the sample that they name, together; the most frequent first."""
    groups: dict[tuple[str, ...], list[FailedSample]] = {}
    for failed in failures:
        failure = failed.failure
        message = failure.message.replace(failed.id, _ANY)
        details = (failure.where, failure.hint, failure.metric)
        key = (failure.stage, failure.error, message, *(detail or "" for detail in details))
        groups.setdefault(key, []).append(failed)
    kinds = [FailureKind(found[0].failure, tuple(f.id for f in found)) for found in groups.values()]
    return sorted(kinds, key=lambda kind: -len(kind.ids))
