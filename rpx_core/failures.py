"""Failures of one kind, told once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rpx_core.predictions import file_stem
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
        # Texts name a sample by its id, or by the file that it should have.
        texts = [_without(failed.id, text or "") for text in (failure.message, failure.hint)]
        key = (failure.stage, failure.error, *texts, failure.where or "", failure.metric or "")
        groups.setdefault(key, []).append(failed)
    kinds = [FailureKind(found[0].failure, tuple(f.id for f in found)) for found in groups.values()]
    return sorted(kinds, key=lambda kind: -len(kind.ids))


def _without(sample_id: str, text: str) -> str:
    """A text without the name of its sample; an id may be a part of any word."""
    names = "|".join(map(re.escape, sorted({sample_id, file_stem(sample_id)}, key=len)[::-1]))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", _ANY, text)
