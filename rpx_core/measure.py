"""Turning evidence into rows: one metric over one unit, with every way it can be undefined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import partial
from typing import Any

from rpx_core.contracts import Frame, Metric, Output, Undefined, Unit
from rpx_core.errors import MetricError, PluginError, count_of, kind_of
from rpx_core.guard import Guard, guarded
from rpx_core.isolation import call_plugin
from rpx_core.parts import Part
from rpx_core.report import Failure, Measured
from rpx_core.report.row import owner_of
from rpx_core.state import encode_state

UNTOLD = "undefined for this evidence"
"""The reason in a row whose metric gave none."""


@dataclass(frozen=True)
class LabelledMetric:
    """A metric under the label that is its journal key."""

    label: str
    metric: Any

    @property
    def unit(self) -> Unit:
        """What the metric measures at a time."""
        return Unit(self.metric.unit)

    @property
    def measures_blocks(self) -> bool:
        """Whether the metric can measure several samples at once."""
        return callable(getattr(self.metric, "measure_block", None))

    @property
    def owner(self) -> str:
        """How an error about the metric begins."""
        return owner_of(self.label)

    def measure_block(self, frames: Sequence[Frame]) -> list[Any]:
        """What the metric says of each of these samples, measured at once."""
        states = list(self.metric.measure_block(frames))
        if len(states) != len(frames):
            raise MetricError(
                f"{self.owner}measure_block() returned {count_of(len(states), 'state')} for "
                f"{count_of(len(frames), 'sample')}"
            )
        return states


def build_metric(part: Part) -> Metric:
    """The metric of a part, checked; raises PluginError unless it has what every metric has."""
    metric: Metric = part.build()
    call_plugin(f"metric {part.name}", partial(check_metric, metric, part.name))
    return metric


def check_metric(metric: Any, owner: str) -> None:
    """Raise PluginError unless a metric has what every metric has."""
    problem = _problem(metric)
    if problem is not None:
        raise PluginError(
            f"metric {owner}: {problem}", hint="the author of the plugin must mend it"
        )


def _problem(metric: Any) -> str | None:
    if not isinstance(getattr(metric, "version", None), str):
        return "its version is not a text"
    unit = getattr(metric, "unit", None)
    if unit not in set(Unit):
        return f"its unit is {unit!r}; one of {', '.join(Unit)} was expected"
    if not is_dataclass(getattr(metric, "State", None)):
        return "its State is no dataclass"
    outputs = getattr(metric, "outputs", None)
    if not isinstance(outputs, Mapping) or not outputs:
        return "its outputs are not a mapping of names to Output"
    return _problem_of_outputs(outputs)


def _problem_of_outputs(outputs: Mapping[Any, Any]) -> str | None:
    for name, output in outputs.items():
        if not isinstance(name, str) or not isinstance(output, Output):
            return f"its output {name!r} is {kind_of(output)}, not an Output"
        if output.headline not in output.aggregates:
            return f"its output {name!r} has no aggregate {output.headline!r}, its headline"
    return None


@dataclass
class Evidence:
    """What the metrics of one unit said: measurements by label, and states to store."""

    guard: Guard = guarded
    measured: dict[str, Measured] = field(default_factory=dict)
    states: dict[str, bytes] = field(default_factory=dict)

    def take(self, metric: LabelledMetric, measure: Callable[[], Any | None]) -> None:
        """Measure, encode and evaluate; a metric that raises or breaks its contract fails alone."""
        outcome = self.guard("measure", lambda: self._take(metric, measure()))
        if isinstance(outcome, Failure):
            failure = outcome.model_copy(update={"metric": metric.label})
            self.states.pop(metric.label, None)
            self.measured[metric.label] = Measured(
                values=dict.fromkeys(metric.metric.outputs), reason="it failed", failure=failure
            )

    def _take(self, metric: LabelledMetric, state: Any) -> None:
        if state is None or isinstance(state, Undefined):
            reason = state.reason if state is not None else UNTOLD
            self.undefined(metric, reason)
            return
        if not isinstance(state, metric.metric.State):
            raise MetricError(
                f"{metric.owner}measure() returned {kind_of(state)}; "
                f"{metric.metric.State.__qualname__} or None was expected"
            )
        self.states[metric.label] = encode_state(state)
        self.measured[metric.label] = evaluate(metric.metric, state, owner=metric.owner)

    def undefined(self, metric: LabelledMetric, reason: str) -> None:
        """Record that the metric has no value here, and why."""
        values = dict.fromkeys(metric.metric.outputs)
        self.measured[metric.label] = Measured(values=values, reason=reason)


def evaluate(metric: Metric, state: Any, *, owner: str = "") -> Measured:
    """Numbers of a state, checked: every output is there, and finite, undefined or infinitely good.

    Raises MetricError for NaN, which no metric may produce from valid data; its message begins
    with the `owner`, such as "metric error: ", where the metric is not named beside it.
    """
    result = metric.result(state)
    if not isinstance(result, Mapping):
        raise MetricError(
            f"{owner}result() gave {type(result).__name__}; a mapping of its outputs was expected"
        )
    if set(result) != set(metric.outputs):
        raise MetricError(
            f"{owner}result() gave {', '.join(sorted(result))}; "
            f"its outputs are {', '.join(sorted(metric.outputs))}"
        )
    values: dict[str, float | None] = {}
    infinite: list[str] = []
    reasons: dict[str, str] = {}
    for name, output in metric.outputs.items():
        value = result[name]
        if isinstance(value, Undefined):
            reasons[name] = value.reason
            value = None
        number = None if value is None else float(value)
        if number is not None and not math.isfinite(number):
            if not _is_infinitely_good(number, output):
                raise MetricError(f"{owner}{name} is {number}", hint=_NOT_FINITE)
            infinite.append(name)
            number = None
        values[name] = number
    return Measured(values=values, infinite=tuple(infinite), reasons=reasons)


def _is_infinitely_good(number: float, output: Output) -> bool:
    return output.best is not None and math.isinf(output.best) and number == output.best


_NOT_FINITE = "return None for an undefined value; only a declared infinite best may be infinite"
