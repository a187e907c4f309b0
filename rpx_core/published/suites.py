"""The published metric suite: the metrics of one task, for predictions in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from rpx_core.aggregate import Aggregator
from rpx_core.config import build_config
from rpx_core.contracts import Frame, Sample, TaskType, Unit
from rpx_core.errors import MetricError
from rpx_core.folds import average
from rpx_core.host import Host
from rpx_core.measure import LabelledMetric
from rpx_core.models import ModelPart
from rpx_core.names import is_same_task
from rpx_core.published.evidence import (
    Aggregated,
    Evidence,
    Keys,
    Memory,
    MetricRow,
    aggregate_numbers,
    output_values,
    row_values,
)
from rpx_core.published.results import BenchmarkResult
from rpx_core.readiness.scores import Basis, compute_readiness
from rpx_core.report import Number, Readiness, Row
from rpx_core.resolution import STABILITY, Resolved, resolve
from rpx_core.results import find_stability
from rpx_core.sample_list import describe_sample, truth_problem
from rpx_core.scorer import Scoring, SequenceScorer, Span

Keep = Callable[[Row, Frame], None]

_ALIASES = {"grounding_acc": "acc50", "grounding_iou": "iou"}
"""Published names of outputs that are called otherwise here: the best-scored box, not the first."""
_WHO = frozenset({"id", "scene", "phase", "difficulty"})


class MetricSuite:
    """The metrics of one task, measured and folded by the engine that runs use.

    Keys of rows and aggregates are the names of outputs; where two metrics share one, it is the
    task's primary metric's, and the others have their label before it (`label.output`).
    """

    def __init__(self, resolved: Resolved, scoring: Scoring) -> None:
        self._resolved = resolved
        self._scoring = scoring
        self.keys = name_outputs(resolved)

    @classmethod
    def for_task(
        cls,
        task: TaskType | str,
        *,
        metrics: Mapping[str, str] | None = None,
        align: str = "none",
    ) -> MetricSuite:
        """The metrics that a run of the task measures, or those of `metrics`, by label.

        `align` fits predictions to the truth first, as in `rpx run --align` (`median`,
        `affine:sequence`). Raises ConfigError for an unknown task, metric or alignment.
        """
        layer: dict[str, Any] = {"task": str(task), "align": align}
        if metrics is not None:
            layer["metrics"] = dict(metrics)
        config = build_config(layer, source="MetricSuite")
        nobody = ModelPart("none", "object")
        resolved = resolve(config, Host.discover(), protocol=None, model=nobody)
        scoring = Scoring(
            resolved.task,
            tuple(LabelledMetric(label, metric) for label, metric in resolved.metrics.items()),
            config.align.method,
            config.align.scope == "sequence" and config.align.method != "none",
        )
        return cls(resolved, scoring)

    @property
    def task(self) -> TaskType | str:
        """The task, as a `TaskType` where it is a well-known one."""
        name = self._resolved.offer.spec.name
        return TaskType(name) if name in set(TaskType) else name

    @property
    def primary(self) -> str:
        """The key of the task's headline output."""
        return self.keys[self._resolved.primary]

    def serves(self, task: str) -> bool:
        """Whether a task of this name is the suite's."""
        return is_same_task(task, self._resolved.offer.full_name)

    def evaluate(
        self, prediction: Any, ground_truth: Any, sample: Sample | None = None
    ) -> MetricRow:
        """The numbers of one prediction, which stands alone: a sequence of one frame, no pairs.

        `sample` gives what some metrics need beside the truth: intrinsics, image, phase. Raises
        ModelError for a prediction that breaks the task's contract, MetricError for a truth that
        is not the task's.
        """
        whole = replace(sample or Sample(id="sample"), ground_truth=ground_truth)
        problem = truth_problem(self._resolved.task, whole)
        if problem:
            raise MetricError(f"sample {whole.id}: {problem}")
        whole = self._resolved.task.complete(whole)
        record = describe_sample(whole)
        scorer = self.scorer(Span(record.sequence, [record]))
        self.add(scorer, whole, prediction)
        (row,) = self.close(scorer)
        for unit in row.evidence[1:]:
            row.update(output_values(unit.row, self.keys))
        return row

    def aggregate(self, rows: Sequence[Mapping[str, Any]]) -> Aggregated:
        """The headline value of every output, from the rows of `evaluate` or of a result.

        Their states are folded, as those of a run: AP, AUC or HOTA are not means of rows. Rows
        that are plain mappings have no states: then every number is the mean of the rows that
        define it, and `numbers` says so; MetricError for an output that has no such mean.
        Undefined is None, and counted.
        """
        evident = [row for row in rows if isinstance(row, MetricRow) and row.evidence]
        if len(evident) == len(rows):
            return aggregate_numbers(self._fold(evident).headlines(), self.keys)
        if evident:
            raise MetricError(
                f"{len(evident)} of {len(rows)} rows have their evidence; all or none was expected",
                hint="pass rows as `evaluate` returned them; dict(row) is a copy without it",
            )
        return Aggregated(self._means(rows))

    def build_result(self, rows: Sequence[Mapping[str, Any]]) -> BenchmarkResult:
        """The rows with their aggregates."""
        return BenchmarkResult(self.task, list(rows), self.aggregate(rows), len(rows))

    def find_key(self, name: str) -> tuple[str, str]:
        """Metric label and output of a key; raises MetricError with those that there are."""
        wanted = _ALIASES.get(name, name)
        for place, key in self.keys.items():
            if wanted in (key, ".".join(place)):
                return place
        raise MetricError(
            f"{self.task} has no metric {name!r}", hint=f"one of {', '.join(self.keys.values())}"
        )

    def readiness(self, rows: Sequence[MetricRow], name: str) -> Readiness:
        """The readiness scores of one output under `rpx-2`."""
        label, output = self.find_key(name)
        declared = self._resolved.metrics[label].outputs[output]
        fold = self._fold(rows)
        basis = Basis(
            address=f"{label}.{output}@{declared.headline}",
            cells=[cell for cell in fold.cells() if (cell.label, cell.output) == (label, output)],
            better=declared.better,
            unit=declared.unit,
            stability=find_stability(fold.headlines()),
        )
        return compute_readiness("rpx-2", basis)

    def without_stability(self) -> MetricSuite:
        """The same suite without temporal stability."""
        kept = {k: v for k, v in self._resolved.metrics.items() if k != STABILITY}
        measured = tuple(one for one in self._scoring.metrics if one.label in kept)
        return MetricSuite(
            replace(self._resolved, metrics=kept), replace(self._scoring, metrics=measured)
        )

    def scorer(self, span: Span, keep: Keep | None = None) -> SequenceScorer:
        """What scores one sequence; errors of metrics come out as they are."""
        return SequenceScorer(span, self._scoring, lambda _, work: work(), keep or _look_away)

    def add(self, scorer: SequenceScorer, sample: Sample, prediction: Any) -> None:
        """Check one prediction and score it."""
        scorer.add(sample, self._resolved.task.validate(prediction, sample), None)

    def close(self, scorer: SequenceScorer) -> list[MetricRow]:
        """The rows of a scored sequence, one per sample."""
        units = [Evidence(row, states) for row, states in zip(*scorer.close(), strict=True)]
        of = {unit: [one for one in units if one.row.unit is unit] for unit in Unit}
        samples, pairs, sequences = of[Unit.SAMPLE], of[Unit.PAIR], of[Unit.SEQUENCE]
        carried = [[sample] for sample in samples]
        for pair, held in zip(pairs, carried[1:], strict=bool(pairs)):
            held.append(pair)
        if carried:
            carried[-1] += sequences
        return [MetricRow(row_values(held[0].row, self.keys), held) for held in carried]

    def _fold(self, rows: Iterable[MetricRow]) -> Aggregator:
        memory = Memory(rows)
        return Aggregator(memory, memory.rows, self._resolved.metrics)

    def _means(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Number]:
        places = {key: place for place, key in self.keys.items()}
        numbers = {}
        for key in dict.fromkeys(key for row in rows for key in row):
            values = [row.get(key) for row in rows]
            if key not in _WHO and any(_is_number(value) for value in values):
                numbers[key] = self._mean(key, places.get(key), values)
        return numbers

    def _mean(self, key: str, place: tuple[str, str] | None, values: Sequence[Any]) -> Number:
        output = None if place is None else self._resolved.metrics[place[0]].outputs[place[1]]
        if output is not None and "sample" not in output.aggregates:
            raise MetricError(
                f"{key} is no mean of rows, and these rows have no evidence to fold",
                hint="pass rows as `evaluate` returned them; dict(row) is a copy without it",
            )
        value = average([float(value) if _is_number(value) else None for value in values])
        return Number(
            address=key,
            label=place[0] if place else "",
            output=place[1] if place else key,
            aggregate="sample",
            value=value.value,
            reason=value.reason,
            better=output.better if output else None,
            unit=output.unit if output else "",
            n=value.n,
            undefined=value.undefined,
            infinite=value.infinite,
            headline=True,
        )


def compute_metrics(
    task: TaskType | str, pred: Any, gt: Any, sample: Sample | None = None
) -> MetricRow:
    """The numbers of one prediction against its ground truth; see `MetricSuite.evaluate`."""
    return MetricSuite.for_task(task).evaluate(pred, gt, sample)


def name_outputs(resolved: Resolved) -> Keys:
    """The key of every output: its name, behind its label where another metric has that name."""
    owners: dict[str, list[str]] = {}
    for label, metric in resolved.metrics.items():
        for output in metric.outputs:
            owners.setdefault(output, []).append(label)
    main = resolved.primary[0]
    return {
        (label, output): output if label == main or len(labels) == 1 else f"{label}.{output}"
        for label in resolved.metrics
        for output, labels in owners.items()
        if label in labels
    }


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _look_away(row: Row, frame: Frame) -> None:
    """Make no picture of a scored frame."""
