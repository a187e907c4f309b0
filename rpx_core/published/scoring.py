"""How predictions in memory are scored and folded: the engine's scorer for one task."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rpx_core.aggregate import Aggregator
from rpx_core.config import RunConfig
from rpx_core.contracts import Frame, Output, Sample, TaskType, Unit
from rpx_core.doubts import find_doubts
from rpx_core.errors import MetricError
from rpx_core.host import Host
from rpx_core.measure import LabelledMetric
from rpx_core.models import ModelPart
from rpx_core.names import is_same_task
from rpx_core.published.evidence import Evidence, Keys, Memory, MetricRow, row_values
from rpx_core.readiness.scores import Basis, compute_readiness
from rpx_core.report import Failure, Number, Readiness, Row
from rpx_core.resolution import STABILITY, Resolved, resolve
from rpx_core.results import find_stability
from rpx_core.rows import Source
from rpx_core.scorer import Scoring, SequenceScorer, Span

_log = logging.getLogger("rpx.scoring")
Keep = Callable[[Row, Frame], None]

_PUBLISHED = {("grounding", "acc50"): "grounding_acc", ("grounding", "iou"): "grounding_iou"}
"""Published keys of outputs that are called otherwise here: of the surest box, not the first."""


@dataclass(frozen=True)
class TaskScoring:
    """One task with the metrics that are measured of it, and how predictions are aligned."""

    resolved: Resolved
    scoring: Scoring

    @property
    def task(self) -> TaskType | str:
        """The task, as a `TaskType` where it is a well-known one."""
        name = self.resolved.offer.spec.name
        return TaskType(name) if name in set(TaskType) else name

    @cached_property
    def keys(self) -> Keys:
        """The published key of every output."""
        return name_outputs(self.resolved)

    def serves(self, task: str) -> bool:
        """Whether a task of this name is meant."""
        return is_same_task(task, self.resolved.offer.full_name)

    def output(self, place: tuple[str, str]) -> Output:
        """What an output declares."""
        label, name = place
        return self.resolved.metrics[label].outputs[name]

    def find_key(self, name: str) -> tuple[str, str]:
        """Metric label and output of a key; raises MetricError with those that there are."""
        for place, key in self.keys.items():
            if name in (key, ".".join(place)) or (place in _PUBLISHED and name == place[1]):
                return place
        raise MetricError(
            f"{self.task} has no metric {name!r}", hint=f"one of {', '.join(self.keys.values())}"
        )

    def without_stability(self) -> TaskScoring:
        """The same without temporal stability."""
        kept = {k: v for k, v in self.resolved.metrics.items() if k != STABILITY}
        measured = tuple(one for one in self.scoring.metrics if one.label in kept)
        return TaskScoring(
            replace(self.resolved, metrics=kept), replace(self.scoring, metrics=measured)
        )

    def open(self, span: Span, keep: Keep | None = None) -> SequenceScorer:
        """What scores one sequence; errors of metrics come out as they are."""
        return SequenceScorer(span, self.scoring, lambda _, work: work(), keep or _look_away, _warn)

    def add(self, scorer: SequenceScorer, sample: Sample, prediction: object) -> None:
        """Check one prediction and score it."""
        scorer.add(sample, self.resolved.task.validate(prediction, sample), Source())

    def close(self, scorer: SequenceScorer) -> list[MetricRow]:
        """The rows of a scored sequence, one per sample."""
        units = [Evidence(row, states) for row, states in zip(*scorer.close(), strict=True)]
        of = {unit: [one for one in units if one.row.unit is unit] for unit in Unit}
        carried = [[sample] for sample in of[Unit.SAMPLE]]
        # The k-th pair is that of the k-th frame with the next.
        for pair, held in zip(of[Unit.PAIR], carried[1:], strict=bool(of[Unit.PAIR])):
            held.append(pair)
        if carried:
            carried[-1] += of[Unit.SEQUENCE]
        return [MetricRow(row_values(held[0].row, self.keys), held) for held in carried]

    def fold(self, rows: Iterable[MetricRow]) -> Aggregator:
        """What aggregates the evidence of rows."""
        memory = Memory(rows)
        return Aggregator(memory, memory.rows, self.resolved.metrics)

    def doubt(
        self, rows: Sequence[MetricRow], fold: Aggregator, headlines: Sequence[Number]
    ) -> tuple[str, ...]:
        """Why the headline numbers of these rows should be doubted, as their report would say."""
        main = [n.address for n in headlines if (n.label, n.output) == self.resolved.primary]
        units = [unit.row for row in rows for unit in row.evidence]
        return find_doubts(fold, units, headlines, self.resolved.metrics, "".join(main))

    def readiness(self, rows: Sequence[MetricRow], place: tuple[str, str]) -> Readiness:
        """The readiness scores of one output under `rpx-2`."""
        fold, declared = self.fold(rows), self.output(place)
        basis = Basis(
            address=f"{'.'.join(place)}@{declared.headline}",
            cells=[cell for cell in fold.cells() if (cell.label, cell.output) == place],
            better=declared.better,
            unit=declared.unit,
            stability=find_stability(fold.headlines()),
        )
        return compute_readiness("rpx-2", basis)


def find_scoring(config: RunConfig) -> TaskScoring:
    """How a run of this configuration would score, whatever its model and data."""
    nobody = ModelPart("none", "object")
    resolved = resolve(config, Host.discover(), protocol=None, model=nobody)
    metrics = resolved.metrics.items()
    scoring = Scoring(
        resolved.task,
        tuple(LabelledMetric(label, metric) for label, metric in metrics),
        config.align.method,
        config.align.scope == "sequence" and config.align.method != "none",
    )
    return TaskScoring(resolved, scoring)


def name_outputs(resolved: Resolved) -> Keys:
    """The key of every output: its name, behind its label where another metric has that name.

    The task's primary metric has its names to itself. Where a published key differs, it is that.
    """
    owners: dict[str, list[str]] = {}
    for label, metric in resolved.metrics.items():
        for output in metric.outputs:
            owners.setdefault(output, []).append(label)
    main = resolved.primary[0]
    keys: Mapping[tuple[str, str], str] = {
        (label, output): output if label == main or len(labels) == 1 else f"{label}.{output}"
        for label in resolved.metrics
        for output, labels in owners.items()
        if label in labels
    }
    return {**keys, **{place: key for place, key in _PUBLISHED.items() if place in keys}}


def _warn(what: str, failure: Failure) -> None:
    """Say what costs no number."""
    _log.warning("%s failed: %s: %s", what, failure.error, failure.text)


def _look_away(row: Row, frame: Frame) -> None:
    """Make no picture of a scored frame."""
