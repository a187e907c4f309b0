"""Scoring one sequence: frames come in one by one, rows come out when it is closed.

Memory is bounded by what the metrics need: nothing is kept of a frame once its pair is measured,
unless a metric of unit `sequence`, or an alignment over the sequence, asks for all frames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rpx_core.alignment import fit
from rpx_core.contracts import Frame, Sample, Task, Unit, seal
from rpx_core.guard import Guard, guarded
from rpx_core.measure import Evidence, LabelledMetric
from rpx_core.records import Record
from rpx_core.report import Failure, Row
from rpx_core.rows import Slot, Source, joint_row, sample_row


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


class SequenceScorer:
    """Collects the frames of one sequence, in any number of steps, and closes it into rows.

    `guard(stage, work)` runs plugin code and returns its result or a Failure. `keep(row, frame)`
    is called for every scored frame, which is when pictures are made, and `note(what, failure)` for
    what costs no number.
    """

    def __init__(
        self,
        span: Span,
        scoring: Scoring,
        guard: Guard,
        keep: Callable[[Row, Frame], None],
        note: Callable[[str, Failure], None],
    ) -> None:
        self.sequence = span.sequence
        self._span = span
        self._slots = {record.id: Slot(record, evidence=Evidence(guard)) for record in span.records}
        self._order = [record.id for record in span.records]
        self._scoring = scoring
        self._guard = guard
        self._keep = keep
        self._note = note
        self._waiting = len(span.records)
        self._pairs: list[tuple[Row, Mapping[str, bytes]]] = []
        self._previous: Slot | None = None
        self._next = 0
        self._poster: Frame | None = None
        """The middle frame with its image: what a picture of the whole sequence shows."""
        self._all = bool(scoring.of_unit(Unit.SEQUENCE)) or scoring.align_sequence

    @property
    def is_complete(self) -> bool:
        """Whether every frame has been added or has failed."""
        return self._waiting == 0

    def add(self, sample: Sample, prediction: Any, source: Source) -> None:
        """One validated prediction; `advance` measures it."""
        slot = self._slots[sample.id]
        whole = seal(sample)
        slot.frame = Frame(whole, whole.ground_truth, seal(prediction))
        slot.source = source
        self._waiting -= 1

    def fail(self, sample_id: str, failure: Failure) -> None:
        """One frame that will have no numbers."""
        self._slots[sample_id].failure = failure
        self._waiting -= 1

    def close(self) -> tuple[list[Row], list[Mapping[str, bytes]]]:
        """All rows of the sequence, with the states to store beside each."""
        self.advance()
        if self._previous is not None:
            self._release(self._previous)
        rows: list[Row] = []
        states: list[Mapping[str, bytes]] = []
        for identifier in self._order:
            slot = self._slots[identifier]
            rows.append(sample_row(slot))
            states.append({} if slot.failure else slot.evidence.states)
        pairs = [*self._pairs, *self._sequence_row()]
        return rows + [row for row, _ in pairs], states + [state for _, state in pairs]

    def advance(self) -> None:
        """Score, in order, what has been added; frames leave memory behind it.

        To be called after each batch: what has gathered is measured together where a metric can.
        An alignment over the sequence waits for the last frame.
        """
        if self._scoring.align_sequence and not self.is_complete:
            return
        known = self._known()
        present = [slot for slot in known if slot.frame is not None and slot.failure is None]
        if self._scoring.align_sequence:
            self._align(present)
        else:
            for slot in present:
                self._align([slot])
        self._measure([slot for slot in present if slot.failure is None])
        for slot in known:
            self._leave(slot)

    def _known(self) -> list[Slot]:
        """The next slots that have a frame or a failure, up to the first that has neither."""
        known: list[Slot] = []
        for place in range(self._next, len(self._order)):
            slot = self._slots[self._order[place]]
            if slot.frame is None and slot.failure is None:
                break
            known.append(slot)
        return known

    def _leave(self, slot: Slot) -> None:
        """Show a scored frame, and measure it with the one before."""
        if slot.failure is None and slot.frame is not None:
            slot.scored = True
            self._keep(sample_row(slot), slot.frame)
            if self._next == len(self._order) // 2:
                self._poster = slot.frame
        self._pair(slot)
        self._next += 1

    def _measure(self, slots: Sequence[Slot]) -> None:
        """Measure each of these frames with every metric of samples."""
        for metric in self._scoring.of_unit(Unit.SAMPLE):
            aligned: list[tuple[Slot, Frame]] = []
            for slot in slots:
                if slot.frame is None or slot.frame.prediction is None:
                    slot.evidence.undefined(metric, "the alignment is undefined")
                else:
                    aligned.append((slot, slot.frame))
            measures = self._measures(metric, [frame for _, frame in aligned])
            for (slot, _), measure in zip(aligned, measures, strict=True):
                slot.evidence.take(metric, measure)

    def _measures(
        self, metric: LabelledMetric, frames: Sequence[Frame]
    ) -> Sequence[Callable[[], Any]]:
        """What measures each of these frames, together where the metric can.

        A block that fails is measured one by one, so that a frame fails alone.
        """
        if len(frames) > 1 and metric.measures_blocks:
            states = guarded("measure", lambda: metric.measure_block(tuple(frames)))
            if not isinstance(states, Failure):
                return [_bind(lambda state: state, state) for state in states]
            self._note(f"measure_block() of metric {metric.label}", states)
        return [_bind(metric.metric.measure, *frame) for frame in frames]

    def _align(self, slots: Sequence[Slot]) -> None:
        if not slots:
            return
        frames = [slot.frame for slot in slots if slot.frame is not None]
        method = self._scoring.align_method
        fitted = self._guard("align", lambda: fit(self._scoring.task, method, frames))
        if isinstance(fitted, Failure):
            for slot in slots:
                slot.failure = fitted
            return
        for slot, frame, result in zip(slots, frames, fitted, strict=True):
            if result is not None:
                slot.facts, slot.note = result.facts, result.note
            prediction = None if result is None else seal(result.prediction)
            slot.frame = frame._replace(prediction=prediction)

    def _pair(self, slot: Slot) -> None:
        previous, self._previous = self._previous, slot
        metrics = self._scoring.of_unit(Unit.PAIR)
        if metrics and previous is not None:
            self._pairs.append(self._pair_row(previous, slot, metrics))
        if previous is not None:
            self._release(previous)
        if not metrics:
            self._release(slot)

    def _release(self, slot: Slot) -> None:
        if not self._all:
            slot.frame = None
        elif slot.frame is not None:
            # Sequence metrics see truth and predictions; images would fill the memory.
            slot.frame = slot.frame._replace(sample=replace(slot.frame.sample, rgb=None))

    def _pair_row(
        self, previous: Slot, current: Slot, metrics: Sequence[LabelledMetric]
    ) -> tuple[Row, Mapping[str, bytes]]:
        records = (previous.record, current.record)
        identifier = f"{previous.record.id}..{current.record.id}"
        row = joint_row(Unit.PAIR, identifier, records).model_copy(
            update={"frame": current.record.frame}
        )
        evidence = Evidence(self._guard)
        pair = (previous.frame, current.frame)
        whole = all(frame is not None and frame.prediction is not None for frame in pair)
        if not (whole and previous.scored and current.scored):
            for metric in metrics:
                evidence.undefined(metric, "a frame of the pair failed or is not aligned")
            return row.model_copy(update={"metrics": evidence.measured}), {}
        if not self._span.are_adjacent(*records):
            for metric in metrics:
                evidence.undefined(metric, "frames are missing between the two")
            return row.model_copy(update={"metrics": evidence.measured}), {}
        _take_all(evidence, metrics, pair)
        return row.model_copy(update={"metrics": evidence.measured}), evidence.states

    def _sequence_row(self) -> list[tuple[Row, Mapping[str, bytes]]]:
        metrics = self._scoring.of_unit(Unit.SEQUENCE)
        if not metrics:
            return []
        slots = [self._slots[identifier] for identifier in self._order]
        row = joint_row(Unit.SEQUENCE, self.sequence, [slot.record for slot in slots])
        frames = [
            slot.frame
            for slot in slots
            if slot.frame is not None and slot.failure is None and slot.frame.prediction is not None
        ]
        evidence = Evidence(self._guard)
        if len(frames) < len(slots):
            for metric in metrics:
                evidence.undefined(metric, "a frame of the sequence failed or is not aligned")
            return [(row.model_copy(update={"metrics": evidence.measured}), {})]
        _take_all(evidence, metrics, (frames,))
        row = row.model_copy(update={"metrics": evidence.measured})
        if self._poster is not None:
            self._keep(row, self._poster)
        return [(row, evidence.states)]


def _take_all(
    evidence: Evidence, metrics: Sequence[LabelledMetric], arguments: Sequence[Any]
) -> None:
    for metric in metrics:
        evidence.take(metric, _bind(metric.metric.measure, *arguments))


def _bind(measure: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: measure(*arguments)
