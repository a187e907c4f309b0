"""The phase x difficulty table of a report, with how good each cell is among the others."""

from __future__ import annotations

from dataclasses import dataclass

from rpx_core.contracts import Difficulty, Phase
from rpx_core.report import GridCell, Readiness
from rpx_core.reporters.formatting import format_value


@dataclass(frozen=True)
class Square:
    """One cell as printed; `goodness` is 0 for the worst and 1 for the best of the table."""

    phase: Phase
    text: str
    samples: int
    scenes: int
    goodness: float | None


@dataclass(frozen=True)
class Line:
    """The cells of one difficulty, one per phase in order of time."""

    difficulty: Difficulty
    squares: tuple[Square, ...]


def arrange(readiness: Readiness) -> tuple[Line, ...]:
    """All difficulties by all phases, also those without data; nothing when no cell is known."""
    cells = {(cell.phase, cell.difficulty): cell for cell in readiness.grid}
    if not cells:
        return ()
    values = [cell.value for cell in cells.values() if cell.value is not None]
    return tuple(
        Line(
            difficulty,
            tuple(
                _square(phase, cells.get((phase, difficulty)), values, readiness) for phase in Phase
            ),
        )
        for difficulty in Difficulty
    )


def _square(
    phase: Phase, cell: GridCell | None, values: list[float], readiness: Readiness
) -> Square:
    if cell is None or (cell.value is None and cell.samples == 0):
        return Square(phase, "no data", samples=0, scenes=0, goodness=None)
    goodness = None
    if cell.value is not None and readiness.better is not None:
        goodness = _place(cell.value, values)
        if goodness is not None and readiness.better == "lower":
            goodness = 1 - goodness
    text = format_value(cell.value, cell.reason)
    return Square(phase, text, samples=cell.samples, scenes=cell.scenes, goodness=goodness)


def _place(value: float, values: list[float]) -> float | None:
    """Where the value lies between the lowest and the highest; None when all are equal."""
    low, high = min(values), max(values)
    # Halves: the span of two finite floats need not be finite.
    span = high / 2 - low / 2
    return (value / 2 - low / 2) / span if span > 0 else None
