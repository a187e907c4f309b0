"""Tables of counts behind numbers, as confusion matrices: shaded, cut to a page, or as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rpx_core.predictions import file_stem
from rpx_core.report import Counts, Number, Report
from rpx_core.reporters.columns import Column, Table
from rpx_core.reporters.formatting import format_count, format_share

SHOWN = 40
"""Rows and columns of a table in a page, the fullest."""


@dataclass(frozen=True)
class Count:
    """One cell as printed; `share` is its part of the row's sum."""

    text: str
    share: float
    title: str


@dataclass(frozen=True)
class CountPage:
    """A table as a page shows it: the fullest rows and columns, in their order."""

    number: Number
    table: Counts
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Count]]]

    @property
    def is_cut(self) -> bool:
        """Whether rows or columns are left out."""
        return len(self.rows) < len(self.table.rows) or len(self.columns) < len(self.table.columns)


def count_pages(report: Report, shown: int = SHOWN) -> tuple[CountPage, ...]:
    """Every table of a report, at most `shown` rows and columns of each."""
    return tuple(
        _page(number, number.table, shown) for number in report.numbers if number.table is not None
    )


def count_columns(report: Report) -> tuple[Table, ...]:
    """Every table whole, as `<label>.<output>.counts`: a column of row names, then the counts."""
    return tuple(
        Table(
            f"{file_stem(f'{number.label}.{number.output}')}.counts",
            (
                Column(f"{table.row_axis} / {table.column_axis}", "text", table.rows),
                *(
                    Column(name, "integer", [row[place] for row in table.counts])
                    for place, name in enumerate(table.columns)
                ),
            ),
        )
        for number in report.numbers
        if (table := number.table) is not None
    )


def _page(number: Number, table: Counts, shown: int) -> CountPage:
    sums = [sum(row) for row in table.counts]
    rows = _fullest(sums, shown)
    columns = _fullest([sum(column) for column in zip(*table.counts, strict=True)], shown)
    return CountPage(
        number,
        table,
        [table.columns[place] for place in columns],
        [
            (
                table.rows[row],
                [_count(table.counts[row][column], sums[row]) for column in columns],
            )
            for row in rows
        ],
    )


def _count(count: int, total: int) -> Count:
    share = count / total if total else 0.0
    return Count(format_count(count), share, f"{format_share(share)} of the row")


def _fullest(sums: Sequence[int], most: int) -> list[int]:
    return sorted(sorted(range(len(sums)), key=lambda place: -sums[place])[:most])
