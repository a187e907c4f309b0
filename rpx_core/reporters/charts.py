"""Geometry of the charts in the HTML report: positions in percent, no markup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rpx_core.reporters.formatting import format_number

QUANTILES = {
    "min": 0.0,
    "5 %": 0.05,
    "25 %": 0.25,
    "median": 0.5,
    "75 %": 0.75,
    "95 %": 0.95,
    "max": 1.0,
}
_TREND_POINTS = 120
_LARGEST = 1e300  # sums and spans of a few such values are still finite


@dataclass(frozen=True)
class Tick:
    """One label of an axis."""

    position: float
    label: str


@dataclass(frozen=True)
class Axis:
    """A stretch of values; `position` maps them to 0..100, what lies beyond to the ends."""

    low: float
    high: float

    def position(self, value: float) -> float:
        """Where the value lies, in percent of the axis."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Some five to eight labels at round values; the two ends where no round ones exist."""
        step = _round_step((self.high - self.low) / 8)
        if step == 0 or self.high + step == self.high or self.low - step == self.low:
            ends = (self.low, self.high)
            return tuple(Tick(self.position(end), format_number(end)) for end in ends)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        values = (index * step for index in range(first, last + 1))
        return tuple(Tick(self.position(value), f"{value:.6g}") for value in values)


@dataclass(frozen=True)
class Bar:
    """One bar, in percent of the chart; `count` values lie in it."""

    left: float
    width: float
    height: float
    count: int


@dataclass(frozen=True)
class Histogram:
    """Bars over an axis, and the quantiles of what they count.

    `beyond` values lie outside the axis and are counted in its first and last bar.
    """

    axis: Axis
    bars: tuple[Bar, ...]
    quantiles: tuple[tuple[str, float], ...]
    count: int
    beyond: int

    def quantile(self, name: str) -> float:
        """One of QUANTILES by name."""
        return dict(self.quantiles)[name]


@dataclass(frozen=True)
class Trend:
    """Values in their order: polylines in a 100 x 100 box, and where most values are missing."""

    lines: tuple[str, ...]
    gaps: tuple[float, ...]


def fit_axis(values: Sequence[float]) -> Axis | None:
    """An axis for the bulk of the values; None when there are none or they are beyond drawing.

    It leaves out a far tail, which would squeeze all else into one bar.
    """
    if not values or max(map(abs, values)) > _LARGEST:
        return None
    low, high = min(values), max(values)
    inner_low, inner_high = np.quantile(values, [0.05, 0.95]).tolist()
    margin = inner_high - inner_low
    if margin > 0:
        low, high = max(low, inner_low - margin), min(high, inner_high + margin)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        margin = 0.5 * max(abs(low), abs(high)) or 0.5
        low, high = low - margin, high + margin
    return Axis(low, high)


def count_bars(values: Sequence[float], axis: Axis) -> Histogram:
    """The distribution of one or more values over an axis that may leave some of them out."""
    size = int(min(max(8, math.ceil(2 * len(values) ** (1 / 2))), 40))
    array = np.asarray(values, dtype=np.float64)
    shares = (array - axis.low) / (axis.high - axis.low)
    places = np.clip(np.floor(shares * size), 0, size - 1).astype(np.int64)
    counts = np.bincount(places, minlength=size).tolist()
    tallest = max(counts)
    bars = tuple(
        Bar(100 * index / size, 100 / size, 100 * count / tallest, count)
        for index, count in enumerate(counts)
        if count
    )
    levels = np.quantile(array, list(QUANTILES.values())).tolist()
    beyond = int(((array < axis.low) | (array > axis.high)).sum())
    return Histogram(axis, bars, tuple(zip(QUANTILES, levels, strict=True)), len(values), beyond)


def draw_trend(values: Sequence[float | None], axis: Axis) -> Trend:
    """The values from left to right, many of them as the medians of equal stretches."""
    stretch = math.ceil(len(values) / _TREND_POINTS)
    chunks = [values[start : start + stretch] for start in range(0, len(values), stretch)]
    lines: list[list[str]] = [[]]
    gaps: list[float] = []
    for index, chunk in enumerate(chunks):
        across = round(100 * (index + 0.5) / len(chunks), 2)
        known = [value for value in chunk if value is not None]
        if 2 * len(known) <= len(chunk):
            gaps.append(across)
        if known:
            height = 100 - axis.position(float(np.median(known)))
            lines[-1].append(f"{across:g},{height:.4g}")
        elif lines[-1]:
            lines.append([])
    return Trend(tuple(_polyline(line) for line in lines if line), tuple(gaps))


def _polyline(points: Sequence[str]) -> str:
    # A line of one point is not drawn; twice the same point with round caps is a dot.
    return " ".join(points if len(points) > 1 else [points[0], points[0]])


def _round_step(rough: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below; 0 where there is none."""
    if rough < 1e-300:
        return 0.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= rough)
