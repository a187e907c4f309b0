"""The published runner: a model over a dataset in memory, by the scorer and folds of runs.

The numbers are those of `rpx run` on the same data. A run on disk isolates failing samples,
resumes and has an identity; here the first error of a model comes out as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from rpx_core.contracts import Model, Sample, withhold
from rpx_core.errors import ConfigError, ModelError
from rpx_core.model_calls import has_memory, predict_checked
from rpx_core.names import is_same_task
from rpx_core.published.coherence import MASK_TASKS, DepthCoherence
from rpx_core.published.datasets import RPXDataset
from rpx_core.published.evidence import MetricRow
from rpx_core.published.results import (
    BenchmarkResult,
    DeploymentReadinessReport,
    Efficiency,
    Findings,
    make_report,
    stability_of,
)
from rpx_core.published.scoring import Keep, TaskScoring
from rpx_core.published.suites import MetricSuite
from rpx_core.scorer import SequenceScorer

Progress = Callable[[int, int | None, str], None]
"""Called with how many samples are done, of how many if that is known, and the stage."""

_Item = tuple[SequenceScorer, Sample]


class BenchmarkRunner:
    """Runs a model over the samples of a dataset and measures what it predicts.

    Samples go by sequence, in natural order of their frames, in batches of the dataset's size; a
    model that remembers (`reset()`) is reset before each sequence. The model gets samples without
    ground truth. Raises ModelError where model, dataset and suite are not for one task.
    """

    def __init__(
        self,
        model: Model,
        dataset: RPXDataset,
        metric_suite: MetricSuite | None = None,
        call_setup: bool = True,
    ) -> None:
        if not isinstance(dataset, RPXDataset):
            raise ConfigError(
                f"the dataset is a {type(dataset).__name__}; an RPXDataset was expected",
                hint="RPXDataset(samples, task) makes one of Sample objects",
            )
        if inspect.isclass(model):
            raise ModelError(
                f"{model.__name__} is a class", hint=f"pass a model: {model.__name__}()"
            )
        check_task(model, str(dataset.task), of="the dataset")
        self.model = model
        self.dataset = dataset
        self.metric_suite = metric_suite or MetricSuite.for_task(dataset.task)
        self._call_setup = call_setup
        if not self.metric_suite.scoring.serves(str(dataset.task)):
            raise ModelError(
                f"the metric suite is for {self.metric_suite.task}, the dataset for {dataset.task}",
                hint="MetricSuite.for_task(dataset.task) makes the one that fits",
            )

    def run(self, progress: Progress | None = None) -> BenchmarkResult:
        """Predict and measure everything.

        `progress(done, total, stage)` is called before the first sample and after each batch, with
        the stage "predict". Raises ModelError for a wrong number of predictions and for one that
        breaks the task's contract, naming the sample; what the model raises comes out as it is.
        """
        suite = self.metric_suite
        return self._result(suite, self._score(suite.scoring, None, progress))

    def run_with_deployment_readiness(
        self,
        primary_metric: str,
        model_name: str = "model",
        efficiency: Efficiency | None = None,
        compute_ts: bool = True,
        compute_sgc_flag: bool = True,
        progress: Progress | None = None,
    ) -> tuple[BenchmarkResult, DeploymentReadinessReport]:
        """The same, with the readiness scores of one output by the rules `rpx-2`.

        `compute_ts` measures temporal stability too, where the task has it. `compute_sgc_flag`
        compares masks with the depth that their samples carry, if any do; other tasks have no such
        score. Raises MetricError for an unknown `primary_metric`, before anything is run.
        """
        whole = self.metric_suite.scoring
        scoring = whole if compute_ts else whole.without_stability()
        place = scoring.find_key(primary_metric)
        coherence = _coherence(scoring) if compute_sgc_flag else None
        rows = self._score(scoring, coherence.take if coherence else None, progress)
        result = self._result(MetricSuite(scoring), rows)
        units = [unit.row for row in rows for unit in row.evidence]
        report = make_report(
            Findings(
                task=scoring.task,
                model_name=model_name,
                metric_key=scoring.keys[place],
                readiness=scoring.readiness(rows, place),
                stability=stability_of(
                    sorted(units, key=attrgetter("id")), tuple(result.numbers.values())
                ),
                coherence=coherence.result() if coherence else None,
                efficiency=efficiency,
            )
        )
        return result, report

    def _result(self, suite: MetricSuite, rows: Sequence[MetricRow]) -> BenchmarkResult:
        result = suite.build_result(rows)
        return replace(result, warnings=(*self.dataset.warnings, *result.warnings))

    def _score(
        self, scoring: TaskScoring, keep: Keep | None, progress: Progress | None
    ) -> list[MetricRow]:
        if self._call_setup:
            self.model.setup()
        watch = _Watch(progress, len(self.dataset))
        watch.advance(0)
        passage = _Passage(self.model, self.dataset, scoring, keep, watch)
        return list(passage.rows())


def check_task(model: object, task: str, *, of: str) -> None:
    """Raise ModelError unless a model object says that it does the task of a dataset or run."""
    does = getattr(model, "task", None)
    if not isinstance(does, str) or not is_same_task(does, task):
        raise ModelError(
            f"the model does {does or 'not say which task it does'}, {of} is for {task}",
            hint="set the model's `task`, or choose what is for the model's task",
        )


@dataclass
class _Watch:
    """Counts samples for whoever watches."""

    progress: Progress | None
    total: int
    done: int = 0

    def advance(self, samples: int) -> None:
        self.done += samples
        if self.progress is not None:
            self.progress(self.done, self.total, "predict")


@dataclass(frozen=True)
class _Passage:
    """One way through a dataset with a model."""

    model: Model
    dataset: RPXDataset
    scoring: TaskScoring
    keep: Keep | None
    watch: _Watch

    def rows(self) -> Iterator[MetricRow]:
        """The rows of every sequence, as soon as all its samples are scored.

        A model without memory is batched across sequences, as in a run.
        """
        whole = getattr(self.model, "batch", None) == "sequence"
        apart = whole or has_memory(self.model)
        size = None if whole else self.dataset.batch_size
        batch: list[_Item] = []
        waiting: list[SequenceScorer] = []
        for stretch in self.dataset.stretches():
            scorer = self.scoring.open(stretch.span, self.keep)
            waiting.append(scorer)
            self._reset()
            for sample in stretch.samples:
                batch.append((scorer, sample))
                if len(batch) == size:
                    self._run(batch)
            if apart:
                self._run(batch)
            yield from self._complete(waiting)
        self._run(batch)
        yield from self._complete(waiting)

    def _reset(self) -> None:
        reset = getattr(self.model, "reset", None)
        if callable(reset):
            reset()

    def _run(self, batch: list[_Item]) -> None:
        """Predict and score what has gathered, and let it go."""
        if not batch:
            return
        blind = [withhold(sample) for _, sample in batch]
        predictions = predict_checked(self.model, blind)
        for (scorer, sample), prediction in zip(batch, predictions, strict=True):
            self.scoring.add(scorer, sample, prediction)
        for scorer in dict.fromkeys(scorer for scorer, _ in batch):
            scorer.advance()
        self.watch.advance(len(batch))
        batch.clear()

    def _complete(self, waiting: list[SequenceScorer]) -> Iterator[MetricRow]:
        while waiting and waiting[0].is_complete:
            yield from self.scoring.close(waiting.pop(0))


def _coherence(scoring: TaskScoring) -> DepthCoherence | None:
    """What measures coherence, for tasks of masks and where somebody knows what depth is."""
    task = str(scoring.task)
    return DepthCoherence.open(task) if task in MASK_TASKS else None
