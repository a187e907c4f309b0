"""What holds for the states of every metric: they survive bytes and fold in any order and split."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import strategies as st

from rpx_core.contracts import Frame, Undefined, Unit
from rpx_core.measure import evaluate
from rpx_core.state import decode_state, encode_state, fold

ROUNDING = 1e-12


def measure_all(metric: Any, frames: Sequence[Frame]) -> list[Any]:
    """The states of a recording: of its frames, of its neighbouring pairs, or of the whole."""
    if metric.unit == Unit.PAIR:
        return defined(metric.measure(*pair) for pair in pairwise(frames))
    if metric.unit == Unit.SEQUENCE:
        return defined([metric.measure(frames)])
    return defined(metric.measure(*frame) for frame in frames)


def values_of(metric: Any, state: Any) -> dict[str, float | None]:
    """The numbers of a state, None where one is undefined."""
    return dict(evaluate(metric, "metric", state).values)


def defined(measured: Iterable[Any]) -> list[Any]:
    """What was measured, without what is undefined."""
    return [state for state in measured if state is not None and not isinstance(state, Undefined)]


def check_storage(metric: Any, states: Iterable[Any]) -> None:
    """A state has the same numbers after a trip through bytes, all within their declared range."""
    for state in states:
        # Raises for NaN, for an infinite value that is not declared, and for missing outputs.
        measured = evaluate(metric, "metric", state)
        values = measured.values
        stored = decode_state(metric.State, encode_state(state))
        assert evaluate(metric, "metric", stored) == measured
        for name, output in metric.outputs.items():
            ends = [end for end in (output.best, output.worst) if end is not None]
            if len(ends) == 2 and values[name] is not None and all(map(math.isfinite, ends)):
                assert min(ends) - ROUNDING <= values[name] <= max(ends) + ROUNDING, name


def check_order(metric: Any, states: Sequence[Any], data: st.DataObject) -> None:
    """A fold has the same numbers, to the bit, in any order of its states."""
    if states:
        shuffled = data.draw(st.permutations(states))
        assert metric.result(fold(shuffled)) == metric.result(fold(states))


def check_split(
    metric: Any,
    states: Sequence[Any],
    data: st.DataObject,
    tolerance: Callable[[str], float] = lambda output: ROUNDING,
) -> None:
    """A fold of folds has the numbers of the flat fold; `tolerance` of each output is stated."""
    if not states:
        return
    cut = data.draw(st.integers(0, len(states)))
    parts = [part for part in (fold(states[:cut]), fold(states[cut:])) if part is not None]
    flat, nested = metric.result(fold(states)), metric.result(fold(parts))
    assert set(flat) == set(nested) == set(metric.outputs)
    for name, value in flat.items():
        limit = tolerance(name)
        wanted = pytest.approx(value, rel=limit, abs=limit) if _is_number(value) else value
        assert nested[name] == wanted, name


def _is_number(value: object) -> bool:
    return value is not None and not isinstance(value, Undefined)
