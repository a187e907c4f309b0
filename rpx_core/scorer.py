"""Scoring one sequence: frames come in one by one, rows come out when it is closed.

Memory is bounded by what the metrics need: nothing is kept of a frame once its pair is measured,
unless a metric of unit `sequence`, or an alignment over the sequence, asks for all frames.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rpx_core.contracts import Aligned, Frame, Sample, Task, Unit
from rpx_core.errors import PluginError
from rpx_core.measure import Evidence, LabelledMetric
from rpx_core.records import Record
from rpx_core.report import Failure, Row, Stage, Tag

MAX_TAGS = 32
MAX_TAG_LENGTH = 200


@dataclass(frozen=True)
class Scoring:
    """What scoring needs beside frames: the task, its metrics, and how to align."""

    task: Task[Any, Any]
    metrics: tuple[LabelledMetric, ...]
    align_method: str = "none"
    align_sequence: bool = False

    def of_unit(self, unit: Unit) -> tuple[LabelledMetric, ...]:
        """The metrics that measure this unit."""
        return tuple(metric for metric in self.metrics if metric.unit is unit)


@dataclass(frozen=True)
class Span:
    """One sequence to score: its records in order, and the usual distance of frame numbers."""

    sequence: str
    records: Sequence[Record]
    step: float = 0.0

    def are_adjacent(self, previous: Record, current: Record) -> bool:
        """Whether no frame is missing between two that follow each other here."""
        return current.frame - previous.frame < 1.5 * self.step or current.frame <= previous.frame


@dataclass
class _Slot:
    """One record on its way to a row."""

    record: Record
    frame: Frame | None = None
    failure: Failure | None = None
    digest: str | None = None
    evidence: Evidence = field(default_factory=Evidence)
    facts: Mapping[str, float] = field(default_factory=dict)
    note: str | None = None
    scored: bool = False


class SequenceScorer:
    """Collects the frames of one sequence, in any number of steps, and closes it into rows.

    `guard(stage, work)` runs plugin code and returns its result or a Failure. `keep(row, frame)`
    is called for every scored frame, which is when pictures are made.
    """

    def __init__(
        self,
        span: Span,
        scoring: Scoring,
        guard: Callable[[Stage, Callable[[], Any]], Any],
        keep: Callable[[Row, Frame], None],
    ) -> None:
        self.sequence = span.sequence
        self._span = span
        self._slots = {record.id: _Slot(record) for record in span.records}
        self._order = [record.id for record in span.records]
        self._scoring = scoring
        self._guard = guard
        self._keep = keep
        self._waiting = len(span.records)
        self._pairs: list[tuple[Row, Mapping[str, bytes]]] = []
        self._previous: _Slot | None = None
        self._next = 0
        self._poster: Frame | None = None
        """The middle frame with its image: what a picture of the whole sequence shows."""
        self._all = bool(scoring.of_unit(Unit.SEQUENCE)) or scoring.align_sequence

    @property
    def is_complete(self) -> bool:
        """Whether every frame has been added or has failed."""
        return self._waiting == 0

    def add(self, sample: Sample, prediction: Any, digest: str | None) -> None:
        """One validated prediction; measured at once unless alignment waits for the sequence."""
        slot = self._slots[sample.id]
        slot.frame = Frame(sample, sample.ground_truth, prediction)
        slot.digest = digest
        self._waiting -= 1
        if not self._scoring.align_sequence:
            self._advance()

    def fail(self, sample_id: str, failure: Failure) -> None:
        """One frame that will have no numbers."""
        self._slots[sample_id].failure = failure
        self._waiting -= 1
        if not self._scoring.align_sequence:
            self._advance()

    def close(self) -> tuple[list[Row], list[Mapping[str, bytes]]]:
        """All rows of the sequence, with the states to store beside each."""
        if self._scoring.align_sequence:
            self._align_together()
            self._advance()
        if self._previous is not None:
            self._release(self._previous)
        rows: list[Row] = []
        states: list[Mapping[str, bytes]] = []
        for identifier in self._order:
            slot = self._slots[identifier]
            rows.append(_sample_row(slot))
            states.append({} if slot.failure else slot.evidence.states)
        pairs = [*self._pairs, *self._sequence_row()]
        return rows + [row for row, _ in pairs], states + [state for _, state in pairs]

    def _advance(self) -> None:
        """Score slots in order as far as they are known; frames leave memory behind it."""
        while self._next < len(self._order):
            slot = self._slots[self._order[self._next]]
            if slot.frame is None and slot.failure is None:
                return
            if slot.failure is None:
                self._score(slot)
            self._pair(slot)
            self._next += 1

    def _score(self, slot: _Slot) -> None:
        frame = slot.frame
        if frame is None:
            return
        if not self._scoring.align_sequence:
            self._align([slot])
        if slot.failure is None:
            outcome = self._guard("measure", lambda: self._measure(slot))
            if isinstance(outcome, Failure):
                slot.failure = outcome
        if slot.failure is None and slot.frame is not None:
            slot.scored = True
            self._keep(_sample_row(slot), slot.frame)
            if self._next == len(self._order) // 2:
                self._poster = slot.frame

    def _measure(self, slot: _Slot) -> None:
        frame = slot.frame
        for metric in self._scoring.of_unit(Unit.SAMPLE):
            if frame is None or frame.prediction is None:
                slot.evidence.undefined(metric, "the alignment is undefined")
            else:
                slot.evidence.take(metric, _bind(metric.metric.measure, *frame))

    def _align(self, slots: Sequence[_Slot]) -> None:
        frames = [slot.frame for slot in slots if slot.frame is not None]
        method = self._scoring.align_method
        fitted = self._guard("align", lambda: _fit(self._scoring.task, method, frames))
        if isinstance(fitted, Failure):
            for slot in slots:
                slot.failure = fitted
            return
        for slot, frame, result in zip(slots, frames, fitted, strict=True):
            if result is not None:
                slot.facts, slot.note = result.facts, result.note
            prediction = None if result is None else result.prediction
            slot.frame = frame._replace(prediction=prediction)

    def _align_together(self) -> None:
        slots = [self._slots[identifier] for identifier in self._order]
        present = [slot for slot in slots if slot.frame is not None and slot.failure is None]
        if present:
            self._align(present)

    def _pair(self, slot: _Slot) -> None:
        previous, self._previous = self._previous, slot
        metrics = self._scoring.of_unit(Unit.PAIR)
        if metrics and previous is not None:
            self._pairs.append(self._pair_row(previous, slot, metrics))
        if previous is not None:
            self._release(previous)
        if not metrics:
            self._release(slot)

    def _release(self, slot: _Slot) -> None:
        if not self._all:
            slot.frame = None
        elif slot.frame is not None:
            # Sequence metrics see truth and predictions; images would fill the memory.
            slot.frame = slot.frame._replace(sample=replace(slot.frame.sample, rgb=None))

    def _pair_row(
        self, previous: _Slot, current: _Slot, metrics: Sequence[LabelledMetric]
    ) -> tuple[Row, Mapping[str, bytes]]:
        row = _sample_row(current).model_copy(
            update={
                "unit": Unit.PAIR,
                "id": f"{previous.record.id}..{current.record.id}",
                "alignment": {},
                "note": None,
                "metrics": {},
                "failure": None,
                "rgb_digest": None,
            }
        )
        evidence = Evidence()
        pair = (previous.frame, current.frame)
        whole = all(frame is not None and frame.prediction is not None for frame in pair)
        if not (whole and previous.scored and current.scored):
            for metric in metrics:
                evidence.undefined(metric, "a frame of the pair failed or is not aligned")
            return row.model_copy(update={"metrics": evidence.measured}), {}
        if not self._span.are_adjacent(previous.record, current.record):
            for metric in metrics:
                evidence.undefined(metric, "frames are missing between the two")
            return row.model_copy(update={"metrics": evidence.measured}), {}
        outcome = self._guard("measure", lambda: _take_all(evidence, metrics, pair))
        return _closed(row, evidence, outcome)

    def _sequence_row(self) -> list[tuple[Row, Mapping[str, bytes]]]:
        metrics = self._scoring.of_unit(Unit.SEQUENCE)
        if not metrics:
            return []
        first = self._slots[self._order[0]].record
        row = Row(
            unit=Unit.SEQUENCE,
            id=self.sequence,
            sequence=self.sequence,
            scene=first.scene,
            phase=first.phase,
            difficulty=first.difficulty,
            tags=_tags(first.metadata),
        )
        slots = [self._slots[identifier] for identifier in self._order]
        frames = [
            slot.frame
            for slot in slots
            if slot.frame is not None and slot.failure is None and slot.frame.prediction is not None
        ]
        evidence = Evidence()
        if len(frames) < len(slots):
            for metric in metrics:
                evidence.undefined(metric, "a frame of the sequence failed or is not aligned")
            return [(row.model_copy(update={"metrics": evidence.measured}), {})]
        outcome = self._guard("measure", lambda: _take_all(evidence, metrics, (frames,)))
        closed = _closed(row, evidence, outcome)
        if self._poster is not None:
            self._keep(closed[0], self._poster)
        return [closed]


def _take_all(
    evidence: Evidence, metrics: Sequence[LabelledMetric], arguments: Sequence[Any]
) -> None:
    for metric in metrics:
        evidence.take(metric, _bind(metric.metric.measure, *arguments))


def _bind(measure: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: measure(*arguments)


def _closed(row: Row, evidence: Evidence, outcome: object) -> tuple[Row, Mapping[str, bytes]]:
    if isinstance(outcome, Failure):
        return row.model_copy(update={"failure": outcome}), {}
    return row.model_copy(update={"metrics": evidence.measured}), evidence.states


def _sample_row(slot: _Slot) -> Row:
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
        rgb_digest=slot.digest,
        alignment=slot.facts,
        note=slot.note,
        metrics={} if slot.failure else slot.evidence.measured,
        failure=slot.failure,
    )


def _tags(metadata: Mapping[str, Any]) -> dict[str, Tag]:
    """The scalar metadata of a record, by which results can be sliced."""
    tags: dict[str, Tag] = {}
    for key, value in sorted(metadata.items())[:MAX_TAGS]:
        if isinstance(value, bool | int | str) or (
            isinstance(value, float) and math.isfinite(value)
        ):
            tags[key] = value[:MAX_TAG_LENGTH] if isinstance(value, str) else value
    return tags


def _fit(task: Task[Any, Any], method: str, frames: Sequence[Frame]) -> list[Aligned[Any] | None]:
    """Aligned predictions, None where undefined, checked."""
    aligned = list(task.align(method, frames))
    if len(aligned) != len(frames):
        raise PluginError(f"align() returned {len(aligned)} results for {len(frames)} frames")
    return [None if result is None else _checked(result) for result in aligned]


def _checked(result: object) -> Aligned[Any]:
    if not isinstance(result, Aligned):
        raise PluginError(
            f"align() returned a {type(result).__name__}; Aligned or None was expected"
        )
    facts = {str(key): float(value) for key, value in result.facts.items()}
    for key, value in facts.items():
        if not math.isfinite(value):
            raise PluginError(
                f"align() says that {key} is {value}; return None where the fit is undefined"
            )
    return replace(result, facts=facts)
