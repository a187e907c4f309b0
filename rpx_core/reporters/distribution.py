"""How the primary output spreads over samples, phases and sequences, from the rows of a run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rpx_core.contracts import Better, Phase, Unit
from rpx_core.records import natural_key
from rpx_core.report import Measured, Number, Row
from rpx_core.reporters.charts import Axis, Histogram, Trend, count_bars, draw_trend, fit_axis

SEQUENCES_SHOWN = 24
_EMPTY = Measured()


@dataclass(frozen=True)
class SequenceTrend:
    """One sequence: its values over time, and how many of them are missing."""

    name: str
    phase: Phase | None
    count: int
    missing: int
    median: float
    worst: float
    trend: Trend


@dataclass(frozen=True)
class Distribution:
    """All that the charts of a report show; `missing` units have no finite value."""

    unit: Unit
    missing: int
    whole: Histogram
    phases: tuple[tuple[Phase, Histogram], ...]
    sequences: tuple[SequenceTrend, ...]
    sequence_count: int


def spread(number: Number, rows: Sequence[Row]) -> Distribution | None:
    """The distribution of one output; None unless two or more values can be drawn."""
    having = [row for row in rows if number.label in row.metrics]
    if not having:
        return None
    unit = having[0].unit
    mine = [row for row in rows if row.unit == unit]
    pairs = [(row, read_value(row, number)) for row in mine]
    values = [value for _, value in pairs if value is not None]
    axis = fit_axis(values)
    if axis is None or len(values) < 2:
        return None
    sequences = _trends(pairs, axis, number.better) if unit is not Unit.SEQUENCE else ()
    return Distribution(
        unit=unit,
        missing=len(pairs) - len(values),
        whole=count_bars(values, axis),
        phases=_by_phase(pairs, axis),
        sequences=sequences[:SEQUENCES_SHOWN],
        sequence_count=len(sequences),
    )


def read_value(row: Row, number: Number) -> float | None:
    """The row's value of the number's output."""
    return row.metrics.get(number.label, _EMPTY).values.get(number.output)


def _by_phase(
    pairs: Sequence[tuple[Row, float | None]], axis: Axis
) -> tuple[tuple[Phase, Histogram], ...]:
    values: Mapping[Phase, list[float]] = {phase: [] for phase in Phase}
    for row, value in pairs:
        if row.phase is not None and value is not None:
            values[row.phase].append(value)
    return tuple((phase, count_bars(found, axis)) for phase, found in values.items() if found)


def _trends(
    pairs: Sequence[tuple[Row, float | None]], axis: Axis, better: Better | None
) -> tuple[SequenceTrend, ...]:
    """Sequences of three or more values, the worst median first; by name without a direction."""
    groups: dict[str, list[tuple[Row, float | None]]] = {}
    for row, value in pairs:
        groups.setdefault(row.sequence, []).append((row, value))
    trends = [
        _trend(name, group, axis, better)
        for name, group in sorted(groups.items(), key=lambda entry: natural_key(entry[0]))
        if sum(value is not None for _, value in group) >= 3
    ]
    if better is not None:
        trends.sort(key=lambda trend: trend.median, reverse=better == "lower")
    return tuple(trends)


def _trend(
    name: str, group: Sequence[tuple[Row, float | None]], axis: Axis, better: Better | None
) -> SequenceTrend:
    ordered = sorted(group, key=lambda pair: pair[0].frame or 0)
    values = [value for _, value in ordered]
    known = [value for value in values if value is not None]
    return SequenceTrend(
        name=name,
        phase=ordered[0][0].phase,
        count=len(known),
        missing=len(values) - len(known),
        median=statistics.median(known),
        worst=min(known) if better == "higher" else max(known),
        trend=draw_trend(values, axis),
    )
