"""From rows to numbers: the named aggregates, slices and cells of a run.

Everything is a fold over rows in id order, so the result does not depend on which worker wrote
what, or when.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rpx_core.contracts import Aggregate, Difficulty, Metric, Output, Phase, Unit
from rpx_core.errors import ConfigError
from rpx_core.journal import Journal, StoredRow
from rpx_core.measure import evaluate
from rpx_core.report import Cell, Number, Slice
from rpx_core.state import fold

SLICE_KEYS = ("phase", "difficulty", "scene", "sequence")


@dataclass(frozen=True)
class Value:
    """One aggregated value with the counts behind it."""

    value: float | None
    n: int
    undefined: int = 0
    failed: int = 0
    infinite: int = 0
    reason: str | None = None


class Aggregator:
    """Folds the rows of a run; each state is read from the journal once."""

    def __init__(
        self, journal: Journal, rows: Sequence[StoredRow], metrics: Mapping[str, Metric]
    ) -> None:
        self._journal = journal
        self._metrics = metrics
        self._rows: dict[Unit, list[StoredRow]] = {}
        for row in rows:
            self._rows.setdefault(row.row.unit, []).append(row)
        self._states: dict[tuple[str, str], Any] = {}

    def numbers(self) -> tuple[Number, ...]:
        """Every output of every metric by each of its aggregates."""
        return tuple(
            self._number(label, name, aggregate, rows)
            for label, metric in self._metrics.items()
            for rows in [self._of(metric)]
            for name, output in metric.outputs.items()
            for aggregate in output.aggregates
        )

    def slices(self, key: str) -> tuple[Slice, ...]:
        """Headline numbers by each value of a key: a record field, or a metadata key."""
        values = sorted({_slice_value(row, key) for row in self._rows.get(Unit.SAMPLE, ())})
        if values == [_NO_VALUE]:
            tags = sorted({tag for row in self._rows.get(Unit.SAMPLE, ()) for tag in row.row.tags})
            raise ConfigError(
                f"--by {key}: no sample has it",
                hint=f"one of {', '.join((*SLICE_KEYS, *tags))}",
            )
        return tuple(self._slice(key, value) for value in values)

    def cells(self) -> tuple[Cell, ...]:
        """Every output by its headline aggregate in each phase, difficulty and scene."""
        found: list[Cell] = []
        for label, metric in self._metrics.items():
            groups = _group(self._of(metric), _place)
            for (phase, difficulty, scene), rows in sorted(groups.items(), key=_place_order):
                for name, output in metric.outputs.items():
                    value = self._value(label, name, output.headline, rows)
                    found.append(
                        Cell(
                            label=label,
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
                    )
        return tuple(found)

    def _of(self, metric: Metric) -> Sequence[StoredRow]:
        return self._rows.get(Unit(metric.unit), ())

    def _slice(self, key: str, value: str) -> Slice:
        numbers = []
        for label, metric in self._metrics.items():
            rows = [row for row in self._of(metric) if _slice_value(row, key) == value]
            numbers += [
                self._number(label, name, output.headline, rows)
                for name, output in metric.outputs.items()
            ]
        samples = sum(_slice_value(row, key) == value for row in self._rows.get(Unit.SAMPLE, ()))
        return Slice(key=key, value=value, samples=samples, numbers=tuple(numbers))

    def _number(
        self, label: str, name: str, aggregate: Aggregate, rows: Sequence[StoredRow]
    ) -> Number:
        output: Output = self._metrics[label].outputs[name]
        value = self._value(label, name, aggregate, rows)
        return Number(
            address=f"{label}.{name}@{aggregate}",
            label=label,
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
        )

    def _value(
        self, label: str, name: str, aggregate: Aggregate, rows: Sequence[StoredRow]
    ) -> Value:
        failed = sum(row.row.failure is not None for row in rows)
        kept = [row for row in rows if row.row.failure is None]
        match aggregate:
            case "sample" | "sample_median":
                found = _values(label, name, kept)
                return _average(found, median=aggregate == "sample_median", failed=failed)
            case "pooled":
                return self._pooled(label, name, kept, failed)
            case "group":
                return self._grouped(label, name, kept, failed)

    def _pooled(self, label: str, name: str, rows: Sequence[StoredRow], failed: int) -> Value:
        states = [state for row in rows if (state := self._state(label, row)) is not None]
        undefined = len(rows) - len(states)
        total = fold(states)
        if total is None:
            return Value(None, 0, undefined, failed, reason=_nothing(len(rows), failed))
        values, infinite = evaluate(self._metrics[label], label, total)
        reason = "infinite" if name in infinite else None
        if values[name] is None and reason is None:
            reason = "undefined for the pooled evidence"
        return Value(values[name], len(states), undefined, failed, int(name in infinite), reason)

    def _grouped(self, label: str, name: str, rows: Sequence[StoredRow], failed: int) -> Value:
        groups = _group(rows, lambda row: row.row.scene)
        if set(groups) <= {None}:
            return Value(None, 0, len(groups), failed, reason="the samples name no scene")
        parts = [
            self._pooled(label, name, members, 0)
            for _, members in sorted(groups.items(), key=lambda item: item[0] or "")
        ]
        finite = [part.value for part in parts if part.value is not None]
        infinite = sum(part.infinite for part in parts)
        undefined = len(parts) - len(finite) - infinite
        return _average((finite, undefined, infinite), median=False, failed=failed)

    def _state(self, label: str, row: StoredRow) -> Any:
        key = (label, row.row.id)
        if key not in self._states:
            self._states[key] = self._journal.state(row, label, self._metrics[label].State)
        return self._states[key]


_NO_VALUE = "(none)"
_Place = tuple[Phase | None, Difficulty | None, str | None]


def _values(label: str, name: str, rows: Iterable[StoredRow]) -> tuple[list[float], int, int]:
    finite: list[float] = []
    undefined = infinite = 0
    for row in rows:
        measured = row.row.metrics.get(label)
        value = measured.values.get(name) if measured else None
        if value is not None:
            finite.append(value)
        elif measured and name in measured.infinite:
            infinite += 1
        else:
            undefined += 1
    return finite, undefined, infinite


def _average(found: tuple[list[float], int, int], *, median: bool, failed: int) -> Value:
    """Mean or median; the mean leaves infinitely good values out, and says how many."""
    finite, undefined, infinite = found
    if not finite:
        reason = "infinite" if infinite else _nothing(undefined, failed)
        return Value(None, infinite, undefined, failed, infinite, reason)
    if not median:
        # fsum is correctly rounded: the mean does not depend on the order of the rows.
        mean = math.fsum(finite) / len(finite)
        return Value(mean, len(finite), undefined, failed, infinite)
    middle = statistics.median(sorted(finite) + [math.inf] * infinite)
    far = None if math.isfinite(middle) else "infinite"
    value = middle if math.isfinite(middle) else None
    return Value(value, len(finite) + infinite, undefined, failed, infinite, far)


def _nothing(undefined: int, failed: int) -> str:
    if undefined and failed:
        return f"undefined for {undefined} and failed for {failed}: none is left"
    if undefined:
        return f"undefined for all {undefined}"
    return f"all {failed} failed" if failed else "there is no evidence"


def _group(
    rows: Iterable[StoredRow], key: Callable[[StoredRow], Any]
) -> dict[Any, list[StoredRow]]:
    groups: dict[Any, list[StoredRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


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
