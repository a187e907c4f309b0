"""From rows to numbers: the named aggregates, slices and cells of a run.

Everything is a fold over rows in id order, so the result does not depend on which worker wrote
what, or when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from rpx_core.contracts import Aggregate, Difficulty, Metric, Output, Phase, Unit
from rpx_core.errors import ConfigError
from rpx_core.folds import Folded, States, StateSource, group
from rpx_core.journal import StoredRow
from rpx_core.records import natural_key
from rpx_core.report import Cell, Counts, Number, Slice

SLICE_KEYS = ("phase", "difficulty", "scene", "sequence")


class Aggregator:
    """Folds the rows of a run; each state is read from its source once.

    `problems` names the metrics that could not make a number of their folded states: these
    numbers are null, with the reason.
    """

    def __init__(
        self, source: StateSource, rows: Sequence[StoredRow], metrics: Mapping[str, Metric]
    ) -> None:
        self._states = States(source)
        self._metrics = metrics
        self._rows: dict[Unit, list[StoredRow]] = {}
        for row in rows:
            self._rows.setdefault(row.row.unit, []).append(row)

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong in the folds so far, once for each metric."""
        return self._states.problems

    def numbers(self) -> tuple[Number, ...]:
        """Every output of every metric by each of its aggregates."""
        return tuple(
            _with_table(_number(folded, name, aggregate), folded)
            for folded in self._whole
            for name, output in folded.metric.outputs.items()
            for aggregate in output.aggregates
        )

    def doubts(self) -> tuple[str, ...]:
        """Why pooled numbers should be doubted, as their metrics say."""
        return tuple(f"{folded.label}: {folded.doubt}" for folded in self._whole if folded.doubt)

    @cached_property
    def _whole(self) -> Sequence[Folded]:
        """Each metric over all rows of the run."""
        return [self._folded(label, self._of(metric)) for label, metric in self._metrics.items()]

    def headlines(self) -> tuple[Number, ...]:
        """Every output of every metric by its headline aggregate."""
        return self._headlines(self._rows)

    def slices(self, key: str) -> tuple[Slice, ...]:
        """Headline numbers by each value of a key: a record field, or a metadata key."""
        units = {
            unit: group(rows, lambda row: _slice_value(row, key))
            for unit, rows in self._rows.items()
        }
        samples = units.get(Unit.STACK) or units.get(Unit.SAMPLE, {})
        if set(samples) == {_NO_VALUE}:
            tags = sorted({tag for row in samples[_NO_VALUE] for tag in row.row.tags})
            raise ConfigError(
                f"--by {key}: no sample has it",
                hint=f"one of {', '.join((*SLICE_KEYS, *tags))}",
            )
        return tuple(
            Slice(
                key=key,
                value=value,
                samples=len(samples[value]),
                numbers=self._headlines({unit: of.get(value, ()) for unit, of in units.items()}),
            )
            for value in sorted(samples, key=natural_key)
        )

    def cells(self) -> tuple[Cell, ...]:
        """Every output by its headline aggregate in each phase, difficulty and scene."""
        return tuple(
            _cell(folded, name, place)
            for label, metric in self._metrics.items()
            for place, rows in sorted(group(self._of(metric), _place).items(), key=_place_order)
            for folded in [self._folded(label, rows)]
            for name in metric.outputs
        )

    def _of(self, metric: Metric) -> Sequence[StoredRow]:
        return self._rows.get(Unit(metric.unit), ())

    def _folded(self, label: str, rows: Sequence[StoredRow]) -> Folded:
        return Folded(self._states, label, self._metrics[label], rows)

    def _headlines(self, rows: Mapping[Unit, Sequence[StoredRow]]) -> tuple[Number, ...]:
        return tuple(
            _number(folded, name, output.headline)
            for label, metric in self._metrics.items()
            for folded in [self._folded(label, rows.get(Unit(metric.unit), ()))]
            for name, output in metric.outputs.items()
        )


_NO_VALUE = "(none)"
_Place = tuple[Phase | None, Difficulty | None, str | None]


def _number(folded: Folded, name: str, aggregate: Aggregate) -> Number:
    output: Output = folded.metric.outputs[name]
    value = folded.value(name, aggregate)
    return Number(
        address=f"{folded.label}.{name}@{aggregate}",
        label=folded.label,
        output=name,
        aggregate=aggregate,
        value=value.value,
        reason=value.reason,
        better=output.better,
        unit=output.unit,
        n=value.n,
        undefined=value.undefined,
        failed=value.failed,
        infinite=value.infinite,
        headline=aggregate == output.headline,
        evidence=Unit(folded.metric.unit),
    )


def _with_table(number: Number, folded: Folded) -> Number:
    table = folded.tables.get(number.output) if number.aggregate == "pooled" else None
    if table is None:
        return number
    counts = Counts(
        caption=table.caption,
        row_axis=table.row_axis,
        column_axis=table.column_axis,
        rows=tuple(map(str, table.rows)),
        columns=tuple(map(str, table.columns)),
        counts=tuple(tuple(row) for row in table.counts.tolist()),
    )
    return number.model_copy(update={"table": counts})


def _cell(folded: Folded, name: str, place: _Place) -> Cell:
    phase, difficulty, scene = place
    value = folded.value(name, folded.metric.outputs[name].headline)
    return Cell(
        label=folded.label,
        output=name,
        phase=phase,
        difficulty=difficulty,
        scene=scene,
        value=value.value,
        reason=value.reason,
        n=value.n,
        undefined=value.undefined,
        failed=value.failed,
    )


def _place(stored: StoredRow) -> _Place:
    return stored.row.phase, stored.row.difficulty, stored.row.scene


def _place_order(item: tuple[_Place, object]) -> tuple[int, int, str]:
    phase, difficulty, scene = item[0]
    return (
        list(Phase).index(phase) if phase else -1,
        list(Difficulty).index(difficulty) if difficulty else -1,
        scene or "",
    )


def _slice_value(stored: StoredRow, key: str) -> str:
    row = stored.row
    value = getattr(row, key) if key in SLICE_KEYS else row.tags.get(key.removeprefix("metadata."))
    return _NO_VALUE if value is None else str(value)
