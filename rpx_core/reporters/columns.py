"""Rows and cells as typed columns: what the CSV and the Parquet files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rpx_core.contracts import Unit
from rpx_core.report import Cell, Measured, Results, Row

Kind = Literal["text", "integer", "real", "boolean"]
Value = str | int | float | bool | None

_INT64 = range(-(2**63), 2**63)
_EMPTY = Measured()


@dataclass(frozen=True)
class Column:
    """One column; None is an empty cell."""

    name: str
    kind: Kind
    values: Sequence[Value]


@dataclass(frozen=True)
class Table:
    """One file's worth of columns, all of one length."""

    name: str
    columns: tuple[Column, ...]


def build_tables(results: Results) -> tuple[Table, ...]:
    """`per_sample`, `per_pair`, ... for every unit that has rows, and `cells`.

    Without a row of any sample, `per_sample` has the columns alone.

    An undefined value is empty. A `<label>.reason` column says why, and names the outputs that
    are empty because they are infinite, where there is anything to say.
    """
    tables = []
    sampled = any(row.unit.is_of_one_sample for row in results.rows)
    for unit in Unit:
        rows = [row for row in results.rows if row.unit == unit]
        if rows or (unit is Unit.SAMPLE and not sampled):
            outputs = _outputs(results, rows, unit)
            tables.append(Table(f"per_{unit.value}", _row_columns(rows, outputs)))
    return (*tables, Table("cells", _cell_columns(results.cells)))


def _outputs(results: Results, rows: Sequence[Row], unit: Unit) -> dict[str, list[str]]:
    """Outputs of each label of this unit; declared ones first, so that none goes missing."""
    measured = {label for row in rows for label in row.metrics}
    elsewhere = {label for row in results.rows for label in row.metrics} - measured
    outputs: dict[str, list[str]] = {}
    for number in results.report.numbers:
        # A label that no row of any unit has is one whose samples all failed.
        mine = number.label in measured
        if mine or (unit.is_of_one_sample and number.label not in elsewhere):
            names = outputs.setdefault(number.label, [])
            if number.output not in names:
                names.append(number.output)
    for label in sorted(measured):
        names = outputs.setdefault(label, [])
        found = {name for row in rows for name in row.metrics.get(label, _EMPTY).values}
        names.extend(sorted(found.difference(names)))
    return outputs


def _row_columns(rows: Sequence[Row], outputs: dict[str, list[str]]) -> tuple[Column, ...]:
    columns = [
        _column("id", "text", rows, lambda row: row.id),
        _column("sequence", "text", rows, lambda row: row.sequence),
        _guessed("frame", [row.frame for row in rows], empty="integer"),
        _column("scene", "text", rows, lambda row: row.scene),
        _column("phase", "text", rows, lambda row: row.phase and row.phase.value),
        _column("difficulty", "text", rows, lambda row: row.difficulty and row.difficulty.value),
    ]
    for key in sorted({key for row in rows for key in row.tags}):
        columns.append(_guessed(f"tag.{key}", [row.tags.get(key) for row in rows], empty="text"))
    for label, names in outputs.items():
        columns.extend(_metric_columns(label, names, rows))
    for fact in sorted({fact for row in rows for fact in row.alignment}):
        values = [row.alignment.get(fact) for row in rows]
        columns.append(Column(f"alignment.{fact}", "real", values))
    columns += [
        _column("failure.stage", "text", rows, lambda row: _joined(f.stage for f in row.failures)),
        _column("failure.error", "text", rows, lambda row: _joined(f.error for f in row.failures)),
        _column("failure.message", "text", rows, lambda row: _joined(f.text for f in row.failures)),
    ]
    return _distinct(columns)


def _joined(texts: Iterable[str]) -> str | None:
    """What several metrics failed of, each once."""
    return "; ".join(dict.fromkeys(texts)) or None


def _metric_columns(label: str, names: Sequence[str], rows: Sequence[Row]) -> list[Column]:
    measured = [row.metrics.get(label, _EMPTY) for row in rows]
    columns = [
        Column(f"{label}.{name}", "real", [one.values.get(name) for one in measured])
        for name in names
    ]
    reasons = [_reason(one) for one in measured]
    if any(reasons):
        columns.append(Column(f"{label}.reason", "text", reasons))
    return columns


def _reason(measured: Measured) -> str | None:
    infinite = [f"{name} is infinite" for name in measured.infinite]
    reasons = [f"{name}: {reason}" for name, reason in measured.reasons.items()]
    return "; ".join([*filter(None, [measured.reason]), *reasons, *infinite]) or None


def _guessed(name: str, values: Sequence[Value], *, empty: Kind) -> Column:
    """A column whose kind is that of its values, text where they differ; `empty` if it has none."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return Column(name, empty, values)
    if kinds == {bool}:
        return Column(name, "boolean", values)
    if kinds == {int} and all(value is None or value in _INT64 for value in values):
        return Column(name, "integer", values)
    if kinds == {float}:
        return Column(name, "real", values)
    return Column(name, "text", [None if value is None else str(value) for value in values])


def _cell_columns(cells: Sequence[Cell]) -> tuple[Column, ...]:
    return (
        _column("label", "text", cells, lambda cell: cell.label),
        _column("output", "text", cells, lambda cell: cell.output),
        _column("phase", "text", cells, lambda cell: cell.phase and cell.phase.value),
        _column(
            "difficulty", "text", cells, lambda cell: cell.difficulty and cell.difficulty.value
        ),
        _column("scene", "text", cells, lambda cell: cell.scene),
        _column("value", "real", cells, lambda cell: cell.value),
        _column("reason", "text", cells, lambda cell: cell.reason),
        _column("n", "integer", cells, lambda cell: cell.n),
        _column("undefined", "integer", cells, lambda cell: cell.undefined),
        _column("failed", "integer", cells, lambda cell: cell.failed),
    )


def _column(name: str, kind: Kind, entries: Sequence[Any], read: Callable[[Any], Value]) -> Column:
    return Column(name, kind, [read(entry) for entry in entries])


def _distinct(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns under names that differ; a metric may be labelled `tag` or `failure`."""
    seen: dict[str, int] = {}
    distinct = []
    for column in columns:
        seen[column.name] = repeats = seen.get(column.name, 0) + 1
        name = column.name if repeats == 1 else f"{column.name} ({repeats})"
        distinct.append(Column(name, column.kind, column.values))
    return tuple(distinct)
