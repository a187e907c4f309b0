"""A worker: predicts, aligns and measures sequences, and commits each to its own journal.

The same class serves the serial executor and every worker process. It catches what plugin code
raises, sample by sample; everything else that goes wrong ends the worker.
"""

from __future__ import annotations

import platform
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rpx_core.contracts import Frame, Model, Runtime, Sample, Task, withhold
from rpx_core.errors import JournalError, ModelError, RPXError
from rpx_core.files import Files, write_atomic
from rpx_core.journal import Block, JournalWriter
from rpx_core.measure import LabelledMetric
from rpx_core.models import ModelPart, build_model, describe, has_memory, predict_checked
from rpx_core.parts import Part
from rpx_core.predictions import file_stem
from rpx_core.previews import WorstKeeper
from rpx_core.records import Record
from rpx_core.report import Failure, Row, Stage, Writer
from rpx_core.scorer import Scoring, SequenceScorer

MAX_MESSAGE = 2000


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know; plain data, so that it crosses process boundaries."""

    task: Part
    metrics: Mapping[str, Part]
    model: ModelPart
    files: Files
    runtime: Runtime
    run_directory: Path
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
    careful: bool = False
    """One sample at a time, each announced, to find the one that kills the worker."""


@dataclass(frozen=True)
class _Loaded:
    """A sample, and the digest of the image that it was made from."""

    sample: Sample
    digest: str | None


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
        self._model = self._set_up()
        self._keeper = WorstKeeper(
            job.run_directory / "previews", job.previews, lower_is_better=job.lower_is_better
        )
        self._journal = JournalWriter(job.run_directory / "journal", self._introduce())

    @property
    def wants_sequences(self) -> bool:
        """Whether batches must stay inside one sequence."""
        return has_memory(self._model) or self._whole_sequence

    def run(self, works: Sequence[Work]) -> list[Block]:
        """Do these sequences and commit each; a model without memory is batched across them."""
        if self.wants_sequences:
            return [block for work in works for block in self._run_group([work])]
        return self._run_group(works)

    def close(self) -> None:
        """Let the model go and flush the journal."""
        close = getattr(self._model, "close", None)
        if callable(close):
            guarded("predict", close)
        self._journal.close()

    @property
    def _whole_sequence(self) -> bool:
        return getattr(self._model, "batch", None) == "sequence"

    def _set_up(self) -> Model:
        model = build_model(self._job.model, self._task, self._job.runtime)
        try:
            model.setup()
        except RPXError:
            raise
        except Exception as error:
            raise ModelError(
                f"model {self._job.model.name}: setup() failed: {type(error).__name__}: {error}"
            ) from error
        return model

    def _introduce(self) -> Writer:
        started = datetime.now(UTC)
        host = socket.gethostname()
        packages = ("rpx-core", "numpy", "pillow")
        return Writer(
            writer=f"{started:%Y%m%dT%H%M%S}-{host[:40]}-{secrets.token_hex(4)}",
            started=started.isoformat(timespec="seconds"),
            host=host,
            device=self._job.runtime.device,
            versions={
                "python": platform.python_version(),
                "platform": platform.platform(),
                **{package: version(package) for package in packages},
            },
            model=describe(self._model),
        )

    def _run_group(self, works: Sequence[Work], *, single: bool = False) -> list[Block]:
        single = single or any(work.careful for work in works)
        scorers = [self._scorer(work) for work in works]
        if has_memory(self._model):
            self._model.reset()  # type: ignore[attr-defined]  # optional member, checked above
        items = [
            (scorer, record)
            for scorer, work in zip(scorers, works, strict=True)
            for record in work.records
            if record.id not in work.crashed
        ]
        size = len(items) if self._whole_sequence else 1 if single else self._job.batch_size
        waiting = list(scorers)
        blocks = self._close_complete(waiting)
        for start in range(0, len(items), max(size, 1)):
            done = self._run_batch(items[start : start + max(size, 1)])
            if not done:
                # The model's memory saw a failed batch: start the sequence again, one by one.
                return self._run_group(works, single=True)
            blocks += self._close_complete(waiting)
        return blocks

    def _scorer(self, work: Work) -> SequenceScorer:
        scorer = SequenceScorer(work.sequence, work.records, self._scoring, guarded, self._keep)
        for identifier, failure in work.crashed.items():
            scorer.fail(identifier, failure)
        return scorer

    def _close_complete(self, waiting: list[SequenceScorer]) -> list[Block]:
        blocks = []
        while waiting and waiting[0].is_complete:
            scorer = waiting.pop(0)
            rows, states = scorer.close()
            blocks.append(self._journal.commit(scorer.sequence, rows, states))
        return blocks

    def _run_batch(self, batch: Sequence[tuple[SequenceScorer, Record]]) -> bool:
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
        files = self._job.files.declaring(record.checksums)
        sample = self._task.load(record, files)
        return _Loaded(sample, files.digest(record.rgb) if record.rgb is not None else None)

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
        scorer.add(sample, prediction, loaded.digest)

    def _save(self, sample_id: str, prediction: Any) -> None:
        name = f"{file_stem(sample_id)}{self._task.suffix}"
        write_atomic(
            self._job.run_directory / "predictions" / name, self._task.write_prediction(prediction)
        )

    def _keep(self, row: Row, frame: Frame) -> None:
        label, output = self._job.primary
        measured = row.metrics.get(label)
        value = measured.values.get(output) if measured else None
        if value is not None and self._keeper.wants(value):
            pictures = guarded("measure", lambda: list(self._task.preview(frame)))
            if not isinstance(pictures, Failure):
                self._keeper.keep(row.id, value, pictures)


def guarded(stage: Stage, work: Callable[[], Any]) -> Any:
    """The result of plugin code, or the Failure that it is; a full disk ends the worker."""
    try:
        return work()
    except JournalError:
        raise
    except Exception as error:
        message = error.message if isinstance(error, RPXError) else str(error)
        return Failure(stage=stage, error=type(error).__name__, message=message[:MAX_MESSAGE])
