"""The tables that commands print in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from rpx_core.names import bare_name
from rpx_core.profiling.record import Profile
from rpx_core.report import Number, Report, Score
from rpx_core.reporters.beside import list_costs
from rpx_core.reporters.efficiency import describe_hardware, list_facts
from rpx_core.reporters.formatting import ARROWS, format_number, format_share, format_value, reveal
from rpx_core.reporters.headline import is_primary, primary_number
from rpx_core.reporters.pareto import COSTS

MAX_SLICES = 30


def tabulate_numbers(numbers: Sequence[Number]) -> Table:
    """Numbers with all that is needed to read them."""
    table = _make_table()
    table.add_column("metric")
    table.add_column("value", justify="right")
    table.add_column("")
    table.add_column("unit")
    table.add_column("n", justify="right")
    table.add_column("undefined", justify="right")
    table.add_column("failed", justify="right")
    table.add_column("aggregate", style="dim")
    for number in numbers:
        table.add_row(
            f"{number.label}.{number.output}",
            # The counts beside it say why.
            "n/a" if number.value is None else format_number(number.value),
            ARROWS[number.better],
            plain(number.unit),
            str(number.n),
            str(number.undefined or "-"),
            str(number.failed or "-"),
            number.aggregate,
        )
    return table


def tabulate_scores(rules: str, scores: Sequence[Score]) -> Table:
    """Readiness scores under one set of rules."""
    table = _make_table()
    table.add_column(f"readiness ({rules})")
    table.add_column("value", justify="right")
    table.add_column("")
    table.add_column("coverage", justify="right")
    for score in scores:
        table.add_row(
            plain(score.title),
            "n/a" if score.value is None else format_number(score.value),
            score.change or ARROWS[score.better],
            format_share(score.coverage),
        )
    return table


def tabulate_slices(report: Report) -> Table:
    """The primary number of each slice."""
    number = primary_number(report)
    table = _make_table()
    table.add_column("slice")
    table.add_column(plain(number.address if number else report.primary), justify="right")
    table.add_column("n", justify="right")
    table.add_column("samples", justify="right")
    for part in report.slices[:MAX_SLICES]:
        mine = next((one for one in part.numbers if is_primary(one, report)), None)
        table.add_row(
            plain(f"{part.key} = {part.value}"),
            plain(format_value(mine.value, mine.reason)) if mine else "-",
            str(mine.n) if mine else "-",
            str(part.samples),
        )
    more = len(report.slices) - MAX_SLICES
    if more > 0:
        table.add_row(f"[dim]and {more} more in the report[/]")
    return table


def tabulate_efficiency(profile: Profile) -> Table:
    """What a model costs, and where that was measured."""
    table = _make_table()
    table.add_column("efficiency")
    table.add_column("amount", justify="right")
    table.add_column("")
    for fact in list_facts(profile):
        table.add_row(fact.name, plain(fact.text), f"[dim]{plain(fact.note)}[/]")
    table.caption = plain("\n".join([describe_hardware(profile.hardware), *profile.notes]))
    table.caption_justify = "left"
    return table


def title_runs(reports: Sequence[Report], *, apart: Sequence[str] = ()) -> str:
    """What the numbers of comparable runs are, to stand above their table.

    `apart` is in what these runs differ from those of the table before all others.
    """
    first = reports[0]
    number = primary_number(first)
    arrow = f" {ARROWS[number.better]}" if number else ""
    task = bare_name(first.run.task)
    why = f" (other {', '.join(apart)} than the first)" if apart else ""
    return plain(f"{first.primary}{arrow} of {task} on {first.run.data}{why}")


def tabulate_runs(reports: Sequence[Report]) -> Table:
    """Comparable runs, a line each: the number they stand for, and what their models cost."""
    table = _make_table()
    table.add_column("model", overflow="fold")
    table.add_column("run")
    for name in ("value", "n", "failed"):
        table.add_column(name, justify="right")
    profiled = any(report.efficiency is not None for report in reports)
    for name in (cost.heading for cost in COSTS.values() if profiled):
        table.add_column(name, justify="right")
    for report in reports:
        table.add_row(
            plain(report.run.model), report.run.identity[:8], *_run_cells(report, costs=profiled)
        )
    return table


def _run_cells(report: Report, *, costs: bool) -> list[str]:
    number = primary_number(report)
    return [
        plain(format_value(number.value, number.reason)) if number else "-",
        str(number.n) if number else "-",
        str(report.status.failed or "-"),
        *(list_costs(report) if costs else ()),
    ]


def _make_table() -> Table:
    return Table(box=None, pad_edge=False, header_style="dim")


def plain(text: str) -> str:
    """Foreign text as it is: neither markup, nor control characters that steer the terminal."""
    return escape(reveal(text))
