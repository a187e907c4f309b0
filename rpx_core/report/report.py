"""The report: everything that a run says, and what a reporter renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from rpx_core.profiling.record import Profile
from rpx_core.report.numbers import Cell, Number, Slice
from rpx_core.report.readiness import Readiness
from rpx_core.report.row import Failure, Row
from rpx_core.report.run import RunRecord, Status, Writer
from rpx_core.stored import Finite, Stored


class FailedSample(Stored):
    """One sample without numbers."""

    id: str
    sequence: str
    failure: Failure


class WorstSample(Stored):
    """One of the worst samples by the primary output, with its pictures if any were kept."""

    id: str
    value: Finite
    values: Mapping[str, Finite | None]
    pictures: tuple[tuple[str, str], ...] = ()
    """(caption, path relative to the run directory)."""


class Report(Stored):
    """Everything a run says; `result.json` is this, strictly."""

    schema_: Literal["rpx-report-1"] = Field(default="rpx-report-1", alias="schema")
    run: RunRecord
    status: Status
    primary: str
    numbers: tuple[Number, ...]
    readiness: Readiness
    slices: tuple[Slice, ...] = ()
    failures: tuple[FailedSample, ...] = ()
    worst: tuple[WorstSample, ...] = ()
    warnings: tuple[str, ...] = ()
    writers: tuple[Writer, ...] = ()
    efficiency: Profile | None = None
    """What the model costs; null where the run was not profiled."""

    @property
    def labels_without_value(self) -> tuple[str, ...]:
        """The metrics of which no number has a value."""
        valued = {number.label for number in self.numbers if number.value is not None}
        return tuple(
            dict.fromkeys(number.label for number in self.numbers if number.label not in valued)
        )

    def number(self, address: str) -> Number:
        """The number at `label.output@aggregate`; KeyError when there is none."""
        for number in self.numbers:
            if number.address == address:
                return number
        raise KeyError(address)


@dataclass(frozen=True)
class Results:
    """What a reporter renders: the report, its rows in id order, and its cells."""

    report: Report
    rows: Sequence[Row]
    cells: Sequence[Cell]
    run_directory: Path | None = None
    """Where picture paths start; None when nothing was kept on disk."""
    others: Sequence[Report] = field(default=())
    """Further runs to show beside this one."""
    sequences: frozenset[str] = frozenset()
    """Those that are closed in the journal."""
    problems: Sequence[str] = field(default=())
    """Metrics that failed on folded states: numbers are missing that should be there."""
