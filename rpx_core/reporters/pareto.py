"""Runs side by side: quality against cost, and which of them no other run beats in both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rpx_core.profiling.record import Profile, Quantity
from rpx_core.report import Number, Report
from rpx_core.reporters.charts import Axis, Tick
from rpx_core.reporters.formatting import format_number, format_scaled, name_run
from rpx_core.reporters.headline import primary_number
from rpx_core.reporters.labels import place_labels

_MARGIN = 0.08
_LOG_FROM = 8.0
"""Ratio of the largest to the smallest cost from which an axis is logarithmic."""


@dataclass(frozen=True)
class Cost:
    """One cost of a model: how it is read off a profile and printed."""

    name: str
    unit: str
    read: Callable[[Profile], Quantity]
    show: Callable[[float], str]
    of_machine: bool = False
    """Whether it depends on the machine, so that other machines cannot stand beside it."""
    symbol: str = ""
    """The unit as the head of a column has it; none for numbers without one."""

    @property
    def heading(self) -> str:
        """The name with the symbol of the unit."""
        return f"{self.name} ({self.symbol})" if self.symbol else self.name


COSTS: Mapping[str, Cost] = MappingProxyType(
    {
        "latency": Cost(
            "Latency",
            "ms per sample, median",
            lambda profile: Quantity(value=profile.latency.per_sample_ms),
            format_number,
            of_machine=True,
            symbol="ms",
        ),
        "parameters": Cost(
            "Parameters",
            "",
            lambda profile: profile.parameters,
            lambda value: format_scaled(value, ""),
        ),
        "flops": Cost(
            "FLOPs",
            "per sample",
            lambda profile: profile.flops,
            lambda value: format_scaled(value, ""),
        ),
    }
)


@dataclass(frozen=True)
class Point:
    """One run in a chart: place in percent, from the left and from the top, and where it is named.

    `number` is its place in the order of the runs, from 1. `far` when the label needs a line to it.
    """

    number: int
    name: str
    run: str
    left: float
    top: float
    label: tuple[float, float]
    far: bool
    is_best: bool
    is_mine: bool
    cost: str
    quality: str


@dataclass(frozen=True)
class ParetoChart:
    """Quality against one cost: up is better, left is cheaper."""

    title: str
    unit: str
    points: tuple[Point, ...]
    cost_ticks: tuple[Tick, ...]
    quality_ticks: tuple[Tick, ...]
    is_log: bool
    front: str
    """A staircase through the runs that no other beats, as points of a polyline in 100 x 100."""
    missing: tuple[str, ...]
    """Which runs are not drawn, and why."""


@dataclass(frozen=True)
class Entry:
    """One run with both numbers, and its place in the order of the runs."""

    report: Report
    number: int
    quality: float
    cost: float


def draw_charts(report: Report, others: Sequence[Report]) -> tuple[ParetoChart, ...]:
    """A chart for each cost that at least two runs have; nothing without a direction of quality."""
    number = primary_number(report)
    if number is None or number.better is None:
        return ()
    charts = (_draw(cost, number, [report, *others]) for cost in COSTS.values())
    return tuple(chart for chart in charts if chart is not None)


def explain_gaps(report: Report, others: Sequence[Report]) -> tuple[str, ...]:
    """Why costs have no chart though a run was profiled, costs with the same reasons together."""
    reports = [report, *others]
    if not others or all(one.efficiency is None for one in reports):
        return ()
    number = primary_number(report)
    if number is None or number.better is None:
        problem = "is not in this report" if number is None else "has no better end"
        return (f"No chart of quality against cost: {report.primary} {problem}.",)
    costs: dict[tuple[str, ...], list[str]] = {}
    for cost in COSTS.values():
        entries, missing = _enter(cost, number, reports)
        if len(entries) < 2:
            costs.setdefault(tuple(missing), []).append(cost.name)
    return tuple(
        f"No chart of {', '.join(names)}, which takes two runs: {'; '.join(missing)}."
        for missing, names in costs.items()
    )


def find_front(entries: Sequence[Entry], *, lower_is_better: bool) -> tuple[Entry, ...]:
    """The entries that no other beats: as good and cheaper, or better and no dearer."""
    sign = -1.0 if lower_is_better else 1.0

    def beats(one: Entry, two: Entry) -> bool:
        gain, saving = sign * (one.quality - two.quality), two.cost - one.cost
        return gain >= 0 and saving >= 0 and (gain > 0 or saving > 0)

    return tuple(one for one in entries if not any(beats(other, one) for other in entries))


def _draw(cost: Cost, number: Number, reports: Sequence[Report]) -> ParetoChart | None:
    entries, missing = _enter(cost, number, reports)
    if len(entries) < 2:
        return None
    axes = _Axes.over(entries, lower_is_better=number.better == "lower")
    best = find_front(entries, lower_is_better=axes.lower_is_better)
    places = [axes.place(entry) for entry in entries]
    edge = _staircase([axes.place(entry) for entry in best])
    points = tuple(
        Point(
            number=entry.number,
            name=entry.report.run.model,
            run=entry.report.run.identity[:8],
            left=at[0],
            top=at[1],
            label=label,
            far=max(abs(at[0] - label[0]), abs(at[1] - label[1])) > 8,
            is_best=entry in best,
            is_mine=entry.report is reports[0],
            cost=cost.show(entry.cost),
            quality=format_number(entry.quality),
        )
        for entry, at, label in zip(entries, places, place_labels(places, edge), strict=True)
    )
    return ParetoChart(
        title=cost.name,
        unit=cost.unit,
        points=points,
        cost_ticks=axes.across.ticks,
        quality_ticks=axes.quality_ticks,
        is_log=axes.across.is_log,
        front=" ".join(f"{left:g},{top:g}" for left, top in edge),
        missing=tuple(missing),
    )


def _enter(cost: Cost, number: Number, reports: Sequence[Report]) -> tuple[list[Entry], list[str]]:
    entries, missing = [], []
    first = next((report.efficiency for report in reports if report.efficiency is not None), None)
    for place, report in enumerate(reports, start=1):
        quality = next((n for n in report.numbers if n.address == number.address), None)
        profile = report.efficiency
        known = Quantity() if profile is None else cost.read(profile)
        if profile is None:
            missing.append(f"{name_run(report.run)} was not profiled")
        elif quality is None or quality.value is None:
            missing.append(f"{name_run(report.run)} has no {number.label}.{number.output}")
        elif known.value is None:
            missing.append(f"{name_run(report.run)}, {known.reason}")
        elif cost.of_machine and first is not None and not _same_place(first, profile):
            missing.append(f"{name_run(report.run)} was measured on another machine or batch size")
        else:
            entries.append(Entry(report, place, quality.value, known.value))
    return entries, missing


def _same_place(one: Profile, two: Profile) -> bool:
    return (one.hardware.place, one.batch_size) == (two.hardware.place, two.batch_size)


def _widened(values: Sequence[float]) -> Axis:
    low, high = min(values), max(values)
    margin = (high - low) * _MARGIN or 0.1 * abs(high) or 0.5
    return Axis(low - margin, high + margin)


@dataclass(frozen=True)
class _CostAxis:
    """Costs, or their decimal logarithms, over an axis."""

    axis: Axis
    is_log: bool

    @classmethod
    def over(cls, costs: Sequence[float], *, is_log: bool) -> _CostAxis:
        return cls(_widened([math.log10(cost) for cost in costs] if is_log else costs), is_log)

    def position(self, cost: float) -> float:
        return self.axis.position(math.log10(cost) if self.is_log else cost)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Round costs; on a logarithmic axis 1 and 3 of each decade, or decades alone."""
        if not self.is_log:
            values = [value for tick in self.axis.ticks if (value := float(tick.label)) >= 0]
            few = values if len(values) <= 5 else values[::2]
            return tuple(Tick(self.position(value), _tick_label(value)) for value in few)
        decades = range(math.floor(self.axis.low), math.ceil(self.axis.high) + 1)
        steps = (1, 3) if len(decades) <= 4 else (1,)
        values = [step * 10.0**decade for decade in decades for step in steps]
        inside = [v for v in values if self.axis.low <= math.log10(v) <= self.axis.high]
        return tuple(Tick(self.position(value), _tick_label(value)) for value in inside)


@dataclass(frozen=True)
class _Axes:
    """Costs from left to right, and quality with its better end on top."""

    across: _CostAxis
    up: Axis
    lower_is_better: bool

    @classmethod
    def over(cls, entries: Sequence[Entry], *, lower_is_better: bool) -> _Axes:
        costs = [entry.cost for entry in entries]
        is_log = min(costs) > 0 and max(costs) / min(costs) >= _LOG_FROM
        up = _widened([entry.quality for entry in entries])
        return cls(_CostAxis.over(costs, is_log=is_log), up, lower_is_better)

    def place(self, entry: Entry) -> tuple[float, float]:
        """Percent from the left and from the top."""
        height = self.up.position(entry.quality)
        top = height if self.lower_is_better else 100 - height
        return self.across.position(entry.cost), top

    @property
    def quality_ticks(self) -> tuple[Tick, ...]:
        """Round qualities, by their place from the top."""
        if self.lower_is_better:
            return tuple(self.up.ticks)
        return tuple(Tick(round(100 - tick.position, 2), tick.label) for tick in self.up.ticks)


def _tick_label(value: float) -> str:
    """A round value as short as it is, with its prefix."""
    number, _, prefix = format_scaled(value, "").partition(" ")
    return f"{float(number):g} {prefix}".rstrip()


def _staircase(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The edge of what the best runs reach: right from each, then up to the next."""
    ordered = sorted(places)
    corners: list[tuple[float, float]] = []
    for left, top in ordered:
        if corners:
            corners.append((left, corners[-1][1]))
        corners.append((left, top))
    corners.append((100.0, corners[-1][1]))
    return corners
