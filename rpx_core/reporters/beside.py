"""Several runs in one table: the number that each stands for, and what its model costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rpx_core.report import Report
from rpx_core.reporters.formatting import format_count, format_value
from rpx_core.reporters.headline import primary_number
from rpx_core.reporters.pareto import COSTS, ParetoChart, draw_charts, explain_gaps

NOT_PROFILED = "–"


@dataclass(frozen=True)
class RunLine:
    """One run: `costs` are in the order of COSTS, `best` the costs at which no run beats it."""

    model: str
    run: str
    address: str
    value: str
    samples: str
    costs: tuple[str, ...]
    best: tuple[str, ...]
    is_mine: bool


@dataclass(frozen=True)
class Comparison:
    """This run and the others, this one first."""

    lines: tuple[RunLine, ...]
    charts: tuple[ParetoChart, ...]
    gaps: tuple[str, ...] = ()
    """Why costs have no chart, though a run was profiled."""

    @property
    def has_costs(self) -> bool:
        """Whether any run was profiled."""
        return any(cost != NOT_PROFILED for line in self.lines for cost in line.costs)


def line_up(report: Report, others: Sequence[Report]) -> Comparison:
    """The runs in the order given; nothing to compare where there are no others."""
    if not others:
        return Comparison((), ())
    charts = draw_charts(report, others)
    lines = (_line(run, charts, is_mine=run is report) for run in (report, *others))
    return Comparison(tuple(lines), charts, explain_gaps(report, others))


def _line(report: Report, charts: Sequence[ParetoChart], *, is_mine: bool) -> RunLine:
    number = primary_number(report)
    status = report.status
    identity = report.run.identity[:8]
    return RunLine(
        model=report.run.model,
        run=identity,
        address=number.address if number else report.primary,
        value=format_value(number.value, number.reason) if number else "not in this report",
        samples=f"{format_count(status.evaluated_samples)} of "
        f"{format_count(status.dataset_samples)}",
        costs=list_costs(report),
        best=tuple(
            chart.title
            for chart in charts
            if any(point.run == identity and point.is_best for point in chart.points)
        ),
        is_mine=is_mine,
    )


def list_costs(report: Report) -> tuple[str, ...]:
    """What the model of a run costs, in the order of COSTS."""
    profile = report.efficiency
    if profile is None:
        return (NOT_PROFILED,) * len(COSTS)
    values = [(cost, cost.read(profile).value) for cost in COSTS.values()]
    return tuple("n/a" if value is None else cost.show(value) for cost, value in values)
