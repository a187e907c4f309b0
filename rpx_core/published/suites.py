"""The published metric suite: the metrics of one task, for predictions in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from rpx_core.config import build_config
from rpx_core.contracts import Sample, TaskType
from rpx_core.doubts import find_implausible
from rpx_core.errors import ConfigError, MetricError, kind_of
from rpx_core.folds import average
from rpx_core.published.evidence import (
    Aggregated,
    Keys,
    MetricRow,
    aggregate_numbers,
    output_values,
)
from rpx_core.published.results import BenchmarkResult
from rpx_core.published.scoring import TaskScoring, find_scoring
from rpx_core.report import Number
from rpx_core.sample_fields import check_fields
from rpx_core.sample_list import describe_sample, truth_problem
from rpx_core.scorer import Span

_WHO = frozenset({"id", "scene", "phase", "difficulty"})


class MetricSuite:
    """The metrics of one task, measured and folded by the engine that runs use.

    Keys of rows and aggregates are the names of outputs; where two metrics share one, it is the
    task's primary metric's, and the others have their label before it (`label.output`).
    """

    def __init__(self, scoring: TaskScoring) -> None:
        self.scoring = scoring

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
            if not isinstance(metrics, Mapping):
                raise ConfigError(
                    f"metrics are given as {kind_of(metrics)}; a mapping of labels to names was "
                    "expected",
                    hint='such as {"depth": "depth-errors"}',
                )
            layer["metrics"] = dict(metrics)
        return cls(find_scoring(build_config(layer, source="MetricSuite")))

    @property
    def task(self) -> TaskType | str:
        """The task, as a `TaskType` where it is a well-known one."""
        return self.scoring.task

    @property
    def keys(self) -> Keys:
        """The key of every output, by metric label and name."""
        return self.scoring.keys

    @property
    def primary(self) -> str:
        """The key of the task's headline output."""
        return self.keys[self.scoring.resolved.primary]

    def evaluate(
        self, prediction: Any, ground_truth: Any, sample: Sample | None = None
    ) -> MetricRow:
        """The numbers of one prediction, which stands alone: a sequence of one frame, no pairs.

        `sample` gives what some metrics need beside the truth: intrinsics, image, phase. Raises
        ModelError for a prediction that breaks the task's contract, MetricError for a truth that
        is not the task's.
        """
        task = self.scoring.resolved.task
        whole = replace(sample or Sample(id="unnamed"), ground_truth=ground_truth)
        check_fields(whole)
        problem = truth_problem(task, whole)
        if problem:
            raise MetricError(f"sample {whole.id}: {problem}")
        whole = task.complete(whole)
        record = describe_sample(whole)
        scorer = self.scoring.open(Span(record.sequence, [record]))
        self.scoring.add(scorer, whole, prediction)
        (row,) = self.scoring.close(scorer)
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
        evident = _with_evidence(rows)
        if evident is None:
            return Aggregated(self._means(rows))
        return aggregate_numbers(self.scoring.fold(evident).headlines(), self.keys)

    def build_result(self, rows: Sequence[Mapping[str, Any]]) -> BenchmarkResult:
        """The rows with their aggregates, and why these should be doubted."""
        evident = _with_evidence(rows)
        if evident is None:
            aggregated = Aggregated(self._means(rows))
            numbers = aggregated.numbers.values()
            warnings = find_implausible(numbers, self.scoring.resolved.metrics)
        else:
            fold = self.scoring.fold(evident)
            headlines = fold.headlines()
            aggregated = aggregate_numbers(headlines, self.keys)
            warnings = self.scoring.doubt(evident, fold, headlines)
        return BenchmarkResult(self.task, list(rows), aggregated, len(rows), warnings)

    def _means(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Number]:
        places = {key: place for place, key in self.keys.items()}
        numbers = {}
        for key in dict.fromkeys(key for row in rows for key in row):
            values = [row.get(key) for row in rows]
            if key not in _WHO and any(_is_number(value) for value in values):
                numbers[key] = self._mean(key, places.get(key), values)
        return numbers

    def _mean(self, key: str, place: tuple[str, str] | None, values: Sequence[Any]) -> Number:
        output = None if place is None else self.scoring.output(place)
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
    """The numbers of one prediction against its ground truth; see `MetricSuite.evaluate`.

    Before them stand `id`, `scene`, `phase` and `difficulty` of the sample.

    For many predictions, make the suite once: each call of this looks for the task's metrics anew.
    """
    return MetricSuite.for_task(task).evaluate(pred, gt, sample)


def _with_evidence(rows: Sequence[Mapping[str, Any]]) -> list[MetricRow] | None:
    """The rows where all have their evidence, None where none has; MetricError in between."""
    evident = [row for row in rows if isinstance(row, MetricRow) and row.evidence]
    if len(evident) == len(rows):
        return evident
    if not evident:
        return None
    raise MetricError(
        f"{len(evident)} of {len(rows)} rows have their evidence; all or none was expected",
        hint="pass rows as `evaluate` returned them; dict(row) is a copy without it",
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
