"""What was measured, in the memory of a program: rows that keep what their numbers came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rpx_core.journal import StoredRow
from rpx_core.report import Number, Row
from rpx_core.state import decode_state

S = TypeVar("S")
Keys = Mapping[tuple[str, str], str]
"""The published key of every output, by metric label and output name."""


@dataclass(frozen=True)
class Evidence:
    """One unit of evidence: its row, and the states of its metrics by label."""

    row: Row
    states: Mapping[str, bytes] = field(default_factory=dict)


class MetricRow(dict[str, Any]):
    """The numbers of one sample by key, beside its id, scene, phase and difficulty.

    An undefined number is None. `evidence` is what `MetricSuite.aggregate` folds: the states of
    the sample, of the pair that it makes with the frame before it, and, in the last row of a
    sequence, of the sequence. A copy made with `dict(row)` has the numbers alone.
    """

    def __init__(self, values: Mapping[str, Any], evidence: Sequence[Evidence] = ()) -> None:
        super().__init__(values)
        self.evidence = tuple(evidence)


class Aggregated(dict[str, float | None]):
    """The headline value of every output by key, None where it is undefined.

    `numbers` has the same with all that is needed to read it: how many samples (or pairs, or
    sequences) stand behind it, how many were undefined, by which aggregate, which way is better.
    """

    def __init__(self, numbers: Mapping[str, Number]) -> None:
        super().__init__({key: number.value for key, number in numbers.items()})
        self.numbers = dict(numbers)


class Memory:
    """Evidence in the order of a journal, and its states: what a fold reads."""

    def __init__(self, rows: Iterable[MetricRow]) -> None:
        evidence = [unit for row in rows for unit in row.evidence]
        evidence.sort(key=lambda unit: (unit.row.unit, unit.row.id, unit.row.sequence))
        self._states = [unit.states for unit in evidence]
        self.rows = [StoredRow(_pointed(unit), str(n)) for n, unit in enumerate(evidence)]

    def state(self, stored: StoredRow, label: str, kind: type[S]) -> S | None:
        """The state of one metric of one row; None where it was undefined."""
        data = self._states[int(stored.writer)].get(label)
        return None if data is None else decode_state(kind, data)


def row_values(row: Row, keys: Keys) -> dict[str, Any]:
    """A row of a run as the published one: who it is of, and its numbers."""
    return {
        "id": row.id,
        "scene": row.scene,
        "phase": row.phase,
        "difficulty": row.difficulty,
        **output_values(row, keys),
    }


def output_values(row: Row, keys: Keys) -> dict[str, float | None]:
    """The numbers of a row of a run by their published keys."""
    return {
        keys[label, output]: value
        for label, measured in row.metrics.items()
        for output, value in measured.values.items()
    }


def aggregate_numbers(numbers: Iterable[Number], keys: Keys) -> Aggregated:
    """The headline numbers of a run by their published keys."""
    return Aggregated(
        {keys[number.label, number.output]: number for number in numbers if number.headline}
    )


def _pointed(unit: Evidence) -> Row:
    """The row with a pointer at each state, which is how a fold knows that there is one."""
    metrics = {
        label: measured.model_copy(update={"state": (0, len(unit.states[label]), 0)})
        if label in unit.states
        else measured
        for label, measured in unit.row.metrics.items()
    }
    return unit.row.model_copy(update={"metrics": metrics})
