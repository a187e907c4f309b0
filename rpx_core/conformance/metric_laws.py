"""Laws of metrics: states fold to the same numbers in any order, split and place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

from rpx_core.conformance.compare import Tolerance, difference, fingerprint
from rpx_core.conformance.laws import require
from rpx_core.contracts import Aggregate, Frame, Output, Undefined, Unit
from rpx_core.measure import evaluate
from rpx_core.state import decode_state, encode_state, fold, state_fields

ROUNDING = 1e-12
SPLITTING = 1e-9
"""Of a nested fold: roots of small differences lose digits that sums still have."""
PERFECT = 1e-4
"""Angles near zero come from the arc cosine, which loses half of the digits."""

_OUTPUT = re.compile(r"[a-z][a-z0-9_]*")

Evidence = Sequence[Callable[[], Any]]
"""What calls `measure`, once for each unit of evidence."""


def evidence_of(metric: Any, sequences: Iterable[Sequence[Frame]]) -> list[Callable[[], Any]]:
    """How a run calls a metric on recordings: on frames, on adjacent pairs, or on the whole."""
    calls: list[Callable[[], Any]] = []
    for frames in sequences:
        calls += _calls(metric, list(frames))
    return calls


def measure_all(metric: Any, frames: Sequence[Frame]) -> list[Any]:
    """The states of one recording, without what is undefined."""
    return defined(call() for call in evidence_of(metric, [frames]))


def defined(measured: Iterable[Any]) -> list[Any]:
    """What was measured, without what is undefined."""
    return [state for state in measured if state is not None and not isinstance(state, Undefined)]


def values_of(metric: Any, state: Any) -> dict[str, float | None]:
    """The numbers of a state, None where one is undefined or infinitely good."""
    return dict(evaluate(metric, state).values)


def check_metric(
    metric: Any, sequences: Sequence[Sequence[Frame]], *, perfect: Sequence[Sequence[Frame]] = ()
) -> None:
    """Every law of metrics on these recordings; `perfect` are those where the truth is predicted.

    Raises ConformanceError for the first law that is broken.
    """
    check_contract(metric)
    states = defined(call() for call in evidence_of(metric, sequences))
    check_storage(metric, states)
    check_order(metric, states, list(range(len(states)))[::-1])
    for cut in range(len(states) + 1):
        check_split(metric, states, cut, lambda output: SPLITTING)
    for frames in sequences:
        check_purity(metric, frames)
        if callable(getattr(metric, "measure_block", None)):
            check_block(metric, frames)
    check_perfect(metric, defined(call() for call in evidence_of(metric, perfect)))


def check_contract(metric: Any) -> None:
    """A metric says what it measures, in which unit, and how to read each output."""
    version = getattr(metric, "version", None)
    require(isinstance(version, str) and version, "`version` must be a text such as '1'")
    require(metric.unit in list(Unit), f"`unit` is {metric.unit!r}; units are {', '.join(Unit)}")
    state_fields(metric.State)
    require(len(metric.outputs) > 0, "`outputs` is empty")
    for name, output in metric.outputs.items():
        _check_output(name, output)


def check_storage(metric: Any, states: Iterable[Any]) -> None:
    """A state has the same numbers after a trip through bytes, all within their declared range."""
    for state in states:
        # Raises for NaN, for an infinite value that is not declared, and for missing outputs.
        measured = evaluate(metric, state)
        values = measured.values
        stored = decode_state(metric.State, encode_state(state))
        require(
            evaluate(metric, stored) == measured,
            f"the numbers of a stored state are {dict(metric.result(stored))}, before {values}",
        )
        _check_range(metric.outputs, values)


def check_order(metric: Any, states: Sequence[Any], order: Sequence[int]) -> None:
    """A fold has the same numbers, to the bit, in any order of its states."""
    if not states:
        return
    flat = _numbers(metric, fold(states))
    moved = _numbers(metric, fold([states[place] for place in order]))
    problem = difference(flat, moved)
    require(problem is None, f"the fold depends on the order of its states: {problem}")


def check_split(
    metric: Any,
    states: Sequence[Any],
    cut: int,
    tolerance: Callable[[str], float] = lambda output: ROUNDING,
) -> None:
    """A fold of folds has the numbers of the flat fold; `tolerance` of each output is stated."""
    if not states:
        return
    parts = [part for part in (fold(states[:cut]), fold(states[cut:])) if part is not None]
    flat, nested = values_of(metric, fold(states)), values_of(metric, fold(parts))
    for name, value in flat.items():
        limit = tolerance(name)
        problem = difference(value, nested[name], Tolerance(limit, limit))
        require(problem is None, f"{name} of a fold of folds {problem}")


def check_purity(metric: Any, frames: Sequence[Frame]) -> None:
    """Measuring changes no input and remembers nothing: twice the same gives equal states."""
    before = fingerprint(list(frames))
    calls = evidence_of(metric, [frames])
    first, second = [call() for call in calls], [call() for call in calls]
    require(fingerprint(list(frames)) == before, "measure() changes what it is given")
    problem = difference(first, second)
    require(problem is None, f"measured twice, the state {problem}")


def check_perfect(metric: Any, states: Sequence[Any], tolerance: float = PERFECT) -> None:
    """The numbers of perfect predictions are the declared best, or undefined."""
    for state in [*states, *([fold(states)] if states else [])]:
        values, infinite = _numbers(metric, state)
        for name, output in metric.outputs.items():
            value = values[name]
            if name in infinite or value is None or output.best is None or not output.attained:
                continue
            require(
                math.isclose(value, output.best, rel_tol=tolerance, abs_tol=tolerance),
                f"{name} is {value:g} where the truth itself is the prediction; its best is "
                f"{output.best:g}",
                hint="declare what the truth reaches, or Output(attained=False) where nothing can",
            )


def check_block(metric: Any, frames: Sequence[Frame]) -> None:
    """`measure_block` says of each sample, to the bit, what `measure` says."""
    single = [call() for call in evidence_of(metric, [frames])]
    problem = difference(single, list(metric.measure_block(list(frames))))
    require(problem is None, f"measure_block() disagrees with measure(): {problem}")


def _numbers(metric: Any, state: Any) -> tuple[dict[str, float | None], tuple[str, ...]]:
    """The numbers of a state, and which of them are infinitely good."""
    measured = evaluate(metric, state)
    return dict(measured.values), measured.infinite


def _calls(metric: Any, frames: list[Frame]) -> list[Callable[[], Any]]:
    if Unit(metric.unit) is Unit.PAIR:
        return [lambda pair=pair: metric.measure(*pair) for pair in pairwise(frames)]  # type: ignore[misc]  # bound now
    if Unit(metric.unit) is Unit.SEQUENCE:
        plain = [frame._replace(sample=replace(frame.sample, rgb=None)) for frame in frames]
        return [lambda: metric.measure(plain)]
    return [lambda frame=frame: metric.measure(*frame) for frame in frames]  # type: ignore[misc]  # bound now


def _check_output(name: str, output: Output) -> None:
    where = f"output {name}"
    require(_OUTPUT.fullmatch(name), f"{where}: names are lower_snake_case")
    require(output.better in ("higher", "lower", None), f"{where}: better is {output.better!r}")
    for aggregate in output.aggregates:
        known = get_args(Aggregate)
        require(aggregate in known, f"{where}: {aggregate!r} is none of {', '.join(known)}")
    require(output.headline in output.aggregates, f"{where}: its headline is no aggregate of it")
    if None not in (output.better, output.best, output.worst):
        rises = float(output.best or 0) > float(output.worst or 0)
        require(
            rises == (output.better == "higher"),
            f"{where}: {output.better} is better, but best is {output.best} and worst "
            f"{output.worst}",
        )


def _check_range(outputs: Mapping[str, Output], values: Mapping[str, float | None]) -> None:
    for name, output in outputs.items():
        ends = [end for end in (output.best, output.worst) if end is not None]
        value = values[name]
        if len(ends) < 2 or value is None or not all(map(math.isfinite, ends)):
            continue
        require(
            min(ends) - ROUNDING <= value <= max(ends) + ROUNDING,
            f"{name} is {value}, outside its declared range from {min(ends)} to {max(ends)}",
        )
