"""A worker: predicts, aligns and measures sequences, and commits each to its own journal.

The same class serves the serial executor and every worker process. It catches what plugin code
raises, sample by sample; everything else that goes wrong ends the worker.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rpx_core.atomic import write_atomic
from rpx_core.blocks import Block
from rpx_core.contracts import Frame, Model, Runtime, Sample, Task, withhold
from rpx_core.errors import ModelError, PluginError, RPXError, count_of
from rpx_core.files import Files, Stamp
from rpx_core.guard import guarded
from rpx_core.inference.devices import choose_device, describe_module
from rpx_core.interrupts import is_interrupt
from rpx_core.isolation import error_text
from rpx_core.measure import LabelledMetric
from rpx_core.model_calls import describe, has_memory, predict_checked, set_up
from rpx_core.models import ModelPart, build_model
from rpx_core.parts import Part
from rpx_core.predictions import file_stem
from rpx_core.previews import WorstKeeper
from rpx_core.profiling.modules import find_modules
from rpx_core.records import Record
from rpx_core.report import Failure, Row, RunRecord
from rpx_core.rows import Source
from rpx_core.scorer import Scoring, SequenceScorer, Span
from rpx_core.worst import Candidate
from rpx_core.writers import join_run


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know; plain data, so that it crosses process boundaries."""

    task: Part
    metrics: Mapping[str, Part]
    model: ModelPart
    files: Files
    runtime: Runtime
    run_directory: Path
    record: RunRecord
    primary: tuple[str, str]
    lower_is_better: bool
    align_method: str = "none"
    align_sequence: bool = False
    batch_size: int = 1
    save_predictions: bool = False
    previews: int = 0


@dataclass(frozen=True)
class Work:
    """One sequence to do, and samples of it that are known to kill workers."""

    sequence: str
    records: tuple[Record, ...]
    crashed: Mapping[str, Failure] = field(default_factory=dict)
    step: float = 0.0
    """How far apart the frame numbers of neighbours usually are in this sequence."""
    suspects: frozenset[str] = frozenset()
    """Samples that were in flight when a worker died. With any, the work is done one sample at a
    time, each announced, to find the one that kills."""


@dataclass(frozen=True)
class _Loaded:
    """A sample, and what it was made from."""

    sample: Sample
    source: Source


_Item = tuple[SequenceScorer, Record]


class Worker:
    """Builds task, metrics and model once, then runs work until closed."""

    def __init__(self, job: Job, announce: Callable[[Sequence[str]], None]) -> None:
        self._job = job
        self._announce = announce
        self._task: Task[Any, Any] = job.task.build()
        self._scoring = Scoring(
            self._task,
            tuple(LabelledMetric(label, part.build()) for label, part in job.metrics.items()),
            job.align_method,
            job.align_sequence,
        )
        self._whole_sequence = False
        self._complaints: Counter[tuple[str, str]] = Counter()
        device = choose_device(job.runtime.device, uses_torch=job.model.uses_torch)
        self._runtime = replace(job.runtime, device=device)
        self._model, self._description = self._set_up()
        self._keeper = WorstKeeper(
            job.run_directory / "previews", job.previews, lower_is_better=job.lower_is_better
        )
        self._journal = join_run(
            job.run_directory, job.record, device=device, model=self._description
        )

    @property
    def wants_sequences(self) -> bool:
        """Whether batches must stay inside one sequence."""
        return has_memory(self._model) or self._whole_sequence

    def run(self, works: Sequence[Work]) -> Iterator[Block]:
        """Do these sequences, each committed before it is yielded.

        A model without memory is batched across them.
        """
        groups = [[work] for work in works] if self.wants_sequences else [list(works)]
        for group in groups:
            yield from self._run_group(group)
            self._ask_again()

    def close(self) -> None:
        """Let the model go and flush the journal."""
        close = getattr(self._model, "close", None)
        if callable(close):
            self._note("close()", guarded("predict", close))
        self._journal.close()
        for (what, problem), times in sorted(self._complaints.items()):
            print(f"warning: {what} failed {count_of(times, 'time')}: {problem}", file=sys.stderr)

    def _set_up(self) -> tuple[Model, dict[str, str]]:
        """The model, ready to predict, and what it says of itself."""
        try:
            model = build_model(self._job.model, self._task, self._runtime)
            set_up(model)
            self._whole_sequence = getattr(model, "batch", None) == "sequence"
            return model, self._place_of_weights(model) | describe(model)
        except RPXError:
            raise
        except BaseException as error:
            if is_interrupt(error):
                raise
            raise ModelError(
                f"model {self._job.model.name} cannot be set up: "
                f"{type(error).__name__}: {error_text(error)}",
                hint="RPX_DEBUG=1 shows where this comes from",
            ) from error

    def _place_of_weights(self, model: Model) -> dict[str, str]:
        """Where the network of a user is: nobody but its own code has put it there."""
        if self._job.model.kind not in {"object", "function"}:
            return {}
        found = guarded("predict", lambda: _describe_weights(find_modules(model)))
        self._note("saying where its weights are", found)
        return {} if isinstance(found, Failure) else found

    def _ask_again(self) -> None:
        """Write down what the model says of itself now, where a large batch may have changed it."""
        if self._job.batch_size == 1 and not self._whole_sequence:
            return
        said = guarded("predict", lambda: describe(self._model))
        if isinstance(said, Failure):
            self._note("describe()", said)
        elif not said.items() <= self._description.items():
            self._description |= said
            self._journal.tell_of_model(self._description)

    def _run_group(self, works: Sequence[Work], *, single: bool = False) -> Iterator[Block]:
        single = single or any(work.suspects for work in works)
        scorers = [self._scorer(work) for work in works]
        items = [
            (scorer, record)
            for scorer, work in zip(scorers, works, strict=True)
            for record in work.records
            if record.id not in work.crashed
        ]
        items = self._reset(items)
        size = len(items) if self._whole_sequence else 1 if single else self._job.batch_size
        waiting = list(scorers)
        yield from self._close_complete(waiting)
        for start in range(0, len(items), max(size, 1)):
            batch = items[start : start + max(size, 1)]
            if not self._run_batch(batch):
                # The model's memory saw a failed batch: start the sequence again, one by one.
                yield from self._run_group(works, single=True)
                return
            for scorer in dict.fromkeys(scorer for scorer, _ in batch):
                scorer.advance()
            yield from self._close_complete(waiting)

    def _reset(self, items: list[_Item]) -> list[_Item]:
        """Make the model forget; without that, none of these samples can be done."""
        reset = getattr(self._model, "reset", None)
        outcome = guarded("predict", reset) if callable(reset) else None
        if not isinstance(outcome, Failure):
            return items
        for scorer, record in items:
            scorer.fail(record.id, outcome)
        return []

    def _scorer(self, work: Work) -> SequenceScorer:
        span = Span(work.sequence, work.records, work.step)
        scorer = SequenceScorer(span, self._scoring, guarded, self._keep, self._note)
        for identifier, failure in work.crashed.items():
            scorer.fail(identifier, failure)
        return scorer

    def _close_complete(self, waiting: list[SequenceScorer]) -> Iterator[Block]:
        while waiting and waiting[0].is_complete:
            scorer = waiting.pop(0)
            rows, states = scorer.close()
            yield self._journal.commit(scorer.sequence, rows, states)

    def _run_batch(self, batch: Sequence[_Item]) -> bool:
        """Predict and add one batch; False when it must be redone sample by sample."""
        self._announce([record.id for _, record in batch])
        loaded: list[tuple[SequenceScorer, _Loaded]] = []
        for scorer, record in batch:
            sample = guarded("load", partial(self._load, record))
            if isinstance(sample, Failure):
                scorer.fail(record.id, sample)
            else:
                loaded.append((scorer, sample))
        if not loaded:
            return True
        outcome = self._predict([one.sample for _, one in loaded])
        if not isinstance(outcome, Failure):
            for (scorer, one), raw in zip(loaded, outcome, strict=True):
                self._accept(scorer, one, raw)
            return True
        if len(loaded) > 1 and has_memory(self._model) and not self._whole_sequence:
            return False
        for scorer, one in loaded:
            alone = outcome if self._whole_sequence or len(loaded) == 1 else None
            answer = alone or self._predict([one.sample])
            if isinstance(answer, Failure):
                scorer.fail(one.sample.id, answer)
            else:
                self._accept(scorer, one, answer[0])
        return True

    def _load(self, record: Record) -> _Loaded:
        stamps: dict[str, Stamp] = {}
        files = self._job.files.declaring(record.checksums, stamps)
        sample = self._task.load(record, files)
        if not isinstance(sample, Sample) or sample.id != record.id:
            raise PluginError(f"load() of record {record.id} did not return its sample")
        digest = files.digest(record.rgb) if record.rgb is not None else None
        return _Loaded(sample, Source(digest, stamps))

    def _predict(self, samples: Sequence[Sample]) -> Any:
        blind = [withhold(sample) for sample in samples]
        return guarded("predict", lambda: predict_checked(self._model, blind))

    def _accept(self, scorer: SequenceScorer, loaded: _Loaded, raw: Any) -> None:
        sample = loaded.sample
        prediction = guarded("validate", lambda: self._task.validate(raw, sample))
        if isinstance(prediction, Failure):
            scorer.fail(sample.id, prediction)
            return
        if self._job.save_predictions:
            saved = guarded("save", lambda: self._save(sample.id, prediction))
            if isinstance(saved, Failure):
                scorer.fail(sample.id, saved)
                return
        scorer.add(sample, prediction, loaded.source)

    def _save(self, sample_id: str, prediction: Any) -> None:
        name = f"{file_stem(sample_id)}{self._task.suffix}"
        path = self._job.run_directory / "predictions" / name
        write_atomic(path, self._task.write_prediction(prediction), durable=False)

    def _keep(self, row: Row, frame: Frame) -> None:
        label, output = self._job.primary
        measured = row.metrics.get(label)
        value = measured.values.get(output) if measured else None
        if value is None:
            return
        candidate = Candidate(row.id, row.sequence, value)
        if self._keeper.wants(candidate):
            # A picture that cannot be made is no reason to lose a number.
            kept = guarded(
                "measure",
                lambda: self._keeper.keep(candidate, self._task.preview(frame)),
            )
            self._note("a picture of a sample", kept)

    def _note(self, what: str, outcome: object) -> None:
        """Remember a failure that costs no number, to be told once at the end."""
        if isinstance(outcome, Failure):
            self._complaints[what, f"{outcome.error}: {outcome.text}"] += 1


def _describe_weights(modules: Sequence[Any]) -> dict[str, str]:
    """Where the weights of the first module are that has any."""
    return next(filter(None, map(describe_module, modules)), {})
