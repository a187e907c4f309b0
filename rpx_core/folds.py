"""Folds: rows of one metric put together, and each output of that by its named aggregates."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from rpx_core.contracts import Aggregate, CountTable, Metric, Output
from rpx_core.guard import guarded
from rpx_core.journal import StoredRow
from rpx_core.measure import UNTOLD, evaluate
from rpx_core.report import Failure, Measured, Row
from rpx_core.report.row import owner_of
from rpx_core.state import fold

S = TypeVar("S")


@dataclass(frozen=True)
class Value:
    """One aggregated value with the counts behind it."""

    value: float | None
    n: int
    undefined: int = 0
    failed: int = 0
    infinite: int = 0
    reason: str | None = None


class StateSource(Protocol):
    """Where the states of rows are: a journal, or the memory of a program."""

    def state(self, stored: StoredRow, label: str, kind: type[S]) -> S | None:
        """The state of one metric of one row; None where it was undefined."""
        ...


class States:
    """The states of a run, each read from its source once, and the metrics that choke on them."""

    def __init__(self, source: StateSource) -> None:
        self._source = source
        self._known: dict[tuple[str, str, tuple[int, int, int]], Any] = {}
        self._problems: dict[str, str] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """What went wrong in folds so far, once for each metric."""
        return tuple(self._problems.values())

    def of(self, label: str, stored: StoredRow, kind: type) -> Any:
        """The state of a metric in one row, or None."""
        measured = stored.row.metrics.get(label)
        if measured is None or measured.state is None:
            return None
        key = (label, stored.writer, measured.state)
        if key not in self._known:
            self._known[key] = self._source.state(stored, label, kind)
        return self._known[key]

    def note(self, label: str, failure: Failure) -> None:
        """Remember that a metric failed in a fold."""
        message = failure.message.removeprefix(owner_of(label))
        self._problems.setdefault(
            label,
            f"metric {label} failed on folded states: {failure.error}: {message}; "
            "its pooled numbers are missing",
        )


@dataclass(frozen=True)
class _Pooled:
    """What a metric says of the fold of many states."""

    measured: Measured
    states: int
    doubt: str | None = None
    state: Any = None


@dataclass(frozen=True, eq=False)
class Folded:
    """Rows of one metric that are aggregated together; their fold is made once, if at all."""

    states: States
    label: str
    metric: Metric
    rows: Sequence[StoredRow]

    def value(self, name: str, aggregate: Aggregate) -> Value:
        """One output by one aggregate."""
        output: Output = self.metric.outputs[name]
        match aggregate:
            case "sample":
                return _mean(self._values(name), self.failed)
            case "sample_median":
                return _median(self._values(name), self.failed, output)
            case "pooled":
                return self._pooled_value(name)
            case "group":
                return self._group_mean(name)

    @property
    def doubt(self) -> str | None:
        """Why the pooled numbers should be doubted, if the metric can tell."""
        return self._pooled.doubt if hasattr(self.metric, "doubt") else None

    @cached_property
    def tables(self) -> Mapping[str, CountTable]:
        """The counts behind pooled values by output, where the metric has any."""
        state = self._pooled.state if hasattr(self.metric, "tables") else None
        if state is None:
            return {}
        found = guarded("measure", lambda: dict(self.metric.tables(state)))  # type: ignore[attr-defined]  # optional, see above
        if isinstance(found, Failure):
            self.states.note(self.label, found)
            return {}
        tables: Mapping[str, CountTable] = found
        return tables

    @cached_property
    def failed(self) -> int:
        """Rows without numbers."""
        return len(self.rows) - len(self._kept)

    @cached_property
    def _kept(self) -> list[StoredRow]:
        return [row for row in self.rows if not self._has_failed(row.row)]

    def _has_failed(self, row: Row) -> bool:
        measured = row.metrics.get(self.label)
        return row.failure is not None or (measured is not None and measured.failure is not None)

    @cached_property
    def _pooled(self) -> _Pooled:
        states = [
            state
            for row in self._kept
            if (state := self.states.of(self.label, row, self.metric.State)) is not None
        ]
        if not states:
            why = Counter(self._why(row, None) for row in self._kept)
            return _Pooled(self._without(_nothing(why, self.failed)), 0)
        found = guarded("measure", lambda: self._evaluate(fold(states)))
        if isinstance(found, Failure):
            self.states.note(self.label, found)
            return _Pooled(self._without(f"{found.error}: {found.message}"), len(states))
        measured, doubt, state = found
        return _Pooled(measured, len(states), doubt, state)

    def _without(self, reason: str) -> Measured:
        return Measured(values=dict.fromkeys(self.metric.outputs), reason=reason)

    def _evaluate(self, state: Any) -> tuple[Measured, str | None, Any]:
        doubt = getattr(self.metric, "doubt", None)
        measured = evaluate(self.metric, state, owner=owner_of(self.label))
        return measured, doubt(state) if doubt else None, state

    @cached_property
    def _scenes(self) -> list[Folded]:
        groups = group(self._kept, lambda row: row.row.scene)
        return [
            Folded(self.states, self.label, self.metric, rows)
            for _, rows in sorted(groups.items(), key=lambda item: item[0] or "")
        ]

    def _values(self, name: str) -> _Values:
        finite: list[float] = []
        why: Counter[str | None] = Counter()
        infinite = 0
        for row in self._kept:
            measured = row.row.metrics.get(self.label)
            value = measured.values.get(name) if measured else None
            if value is not None:
                finite.append(value)
            elif measured and name in measured.infinite:
                infinite += 1
            else:
                why[self._why(row, name)] += 1
        return _Values(finite, why, infinite)

    def _why(self, row: StoredRow, name: str | None) -> str | None:
        """Why this metric, or one output of it, has no value in a row."""
        measured = row.row.metrics.get(self.label)
        if measured is None or measured.reason == UNTOLD:
            return None
        return measured.reason if name is None else measured.why_undefined(name)

    def _pooled_value(self, name: str) -> Value:
        pooled = self._pooled
        value, is_infinite = pooled.measured.values[name], name in pooled.measured.infinite
        why = pooled.measured.why_undefined(name) or "undefined for the pooled evidence"
        reason = None if value is not None else "infinite" if is_infinite else why
        n = self._behind(name)
        undefined = len(self._kept) - n
        return Value(value, n, undefined, self.failed, int(is_infinite), reason)

    def _behind(self, name: str) -> int:
        """How many rows a pooled value rests on.

        Where a row has a value of its own, one without it adds nothing: it has no referent, no
        pixel of the class. Where only the whole has one (AP), every row counts.
        """
        if "sample" not in self.metric.outputs[name].aggregates:
            return self._pooled.states
        values = self._values(name)
        return len(values.finite) + values.infinite

    def _group_mean(self, name: str) -> Value:
        if self._kept and all(row.row.scene is None for row in self._kept):
            return Value(None, 0, 1, self.failed, reason="the samples name no scene")
        parts = [scene._pooled_value(name) for scene in self._scenes]
        finite = [part.value for part in parts if part.value is not None]
        infinite = sum(part.infinite for part in parts)
        ((reason, _),) = self._values(name).why.most_common(1) or [(None, 0)]
        why = Counter({reason: len(parts) - len(finite) - infinite})
        return _mean(_Values(finite, why, infinite), self.failed)


@dataclass(frozen=True)
class _Values:
    """Numbers to average, why the others are undefined, and how many are infinitely good."""

    finite: Sequence[float]
    why: Counter[str | None]
    infinite: int

    @property
    def undefined(self) -> int:
        """How many have no value."""
        return self.why.total()


def _mean(values: _Values, failed: int) -> Value:
    """The mean leaves infinitely good values out, and says how many."""
    finite, undefined, infinite = values.finite, values.undefined, values.infinite
    if not finite:
        return _without_value(values, failed)
    try:
        # fsum is correctly rounded: the mean does not depend on the order of the rows.
        mean = math.fsum(finite) / len(finite)
    except OverflowError:
        mean = math.fsum(value / len(finite) for value in finite)
    return Value(mean, len(finite), undefined, failed, infinite)


def _median(values: _Values, failed: int, output: Output) -> Value:
    if not values.finite:
        return _without_value(values, failed)
    endless = -math.inf if output.best == -math.inf else math.inf
    middle = statistics.median([*values.finite, *[endless] * values.infinite])
    n = len(values.finite) + values.infinite
    if not math.isfinite(middle):
        return Value(None, n, values.undefined, failed, values.infinite, "infinite")
    return Value(middle, n, values.undefined, failed, values.infinite)


def _without_value(values: _Values, failed: int) -> Value:
    infinite = values.infinite
    reason = "infinite" if infinite else _nothing(values.why, failed)
    return Value(None, infinite, values.undefined, failed, infinite, reason)


def _nothing(why: Counter[str | None], failed: int) -> str:
    """Why there is no number, with the most frequent reason that a metric gave."""
    undefined = why.total()
    told = [reason for reason, _ in why.most_common() if reason is not None]
    because = f": {told[0]}" if told else ""
    if undefined and failed:
        return f"undefined for {undefined} and failed for {failed}{because or ': none is left'}"
    if undefined:
        return f"undefined for all {undefined}{because}"
    return f"all {failed} failed" if failed else "there is no evidence"


def average(values: Sequence[float | None]) -> Value:
    """The mean of what is defined; None and NaN count as undefined, infinities apart."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    infinite = sum(value is not None and math.isinf(value) for value in values)
    untold: Counter[str | None] = Counter({None: len(values) - len(finite) - infinite})
    return _mean(_Values(finite, untold, infinite), failed=0)


def group(rows: Iterable[StoredRow], key: Callable[[StoredRow], Any]) -> dict[Any, list[StoredRow]]:
    """Rows by what the key says of each, in their order."""
    groups: dict[Any, list[StoredRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
