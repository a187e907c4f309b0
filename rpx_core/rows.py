"""From records and what was found of them to the rows of a journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rpx_core.contracts import Frame, Unit
from rpx_core.files import Stamp
from rpx_core.magnitudes import is_finite_number
from rpx_core.measure import Evidence
from rpx_core.records import Record
from rpx_core.report import Failure, Row, Tag
from rpx_core.stored_text import MAX_NAME, storable

MAX_TAGS = 32

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """What a sample was read from: the digest of its image, and every file by name."""

    rgb_digest: str | None = None
    files: Mapping[str, Stamp] = field(default_factory=dict)


@dataclass
class Slot:
    """One record on its way to a row."""

    record: Record
    frame: Frame | None = None
    failure: Failure | None = None
    source: Source = field(default_factory=Source)
    evidence: Evidence = field(default_factory=Evidence)
    facts: Mapping[str, float] = field(default_factory=dict)
    note: str | None = None
    scored: bool = False


def sample_row(slot: Slot) -> Row:
    """The row of one sample, as far as it is known."""
    record = slot.record
    return Row(
        unit=Unit.SAMPLE,
        id=record.id,
        sequence=record.sequence,
        frame=record.frame,
        scene=record.scene,
        phase=record.phase,
        difficulty=record.difficulty,
        tags=_tags(record.metadata),
        rgb_digest=slot.source.rgb_digest,
        files=slot.source.files,
        alignment=slot.facts,
        note=slot.note,
        metrics={} if slot.failure else slot.evidence.measured,
        failure=slot.failure,
    )


def joint_row(unit: Unit, identifier: str, records: Sequence[Record]) -> Row:
    """The row of several frames together: it is where, and what, they all are."""
    tags = [_tags(record.metadata) for record in records]
    shared = {
        key: value for key, value in tags[0].items() if all(t.get(key) == value for t in tags)
    }
    return Row(
        unit=unit,
        id=identifier,
        sequence=records[0].sequence,
        scene=_shared(record.scene for record in records),
        phase=_shared(record.phase for record in records),
        difficulty=_shared(record.difficulty for record in records),
        tags=shared,
    )


def _shared(values: Iterable[T | None]) -> T | None:
    """The value that all have, or None."""
    first, *others = values
    return first if all(other == first for other in others) else None


def _tags(metadata: Mapping[str, Any]) -> dict[str, Tag]:
    """The scalar metadata of a record, by which results can be sliced."""
    tags: dict[str, Tag] = {}
    for key, value in sorted(metadata.items())[:MAX_TAGS]:
        if isinstance(value, bool | str) or is_finite_number(value):
            tags[key] = storable(value, MAX_NAME) if isinstance(value, str) else value
    return tags
