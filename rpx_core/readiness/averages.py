"""Averages of cells under a set of rules: by difficulty, by phase, and the changes between phases.

A missing value stays missing: each average carries the share of its weight that data stood
behind, and why it is null where it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rpx_core.contracts import Difficulty, Phase
from rpx_core.report import Cell

Rules = Literal["rpx-1", "rpx-2"]

ESD_WEIGHTS: Mapping[Difficulty, float] = MappingProxyType(
    {Difficulty.EASY: 0.25, Difficulty.MEDIUM: 0.35, Difficulty.HARD: 0.40}
)
"""Weights of the effort-stratified difficulty; they sum to 1."""

ROUNDING = 1e-12
"""Two averages of equal values may differ by their rounding: relative to them, this is a tie."""


@dataclass(frozen=True)
class Average:
    """A value, the share of its weight that data stood behind, and the reason if it is null."""

    value: float | None
    coverage: float
    reason: str | None = None


def average_cells(rules: Rules, cells: Sequence[Cell]) -> Average:
    """Mean of the cells that have a value.

    `rpx-1` weighs a cell by its number of rows, which gives the mean over sample rows where the
    headline aggregate is `sample`. `rpx-2` averages the cells of each scene, then the scenes:
    a scene with many frames counts as much as one with few. Cells without a scene count as one
    scene together.
    """
    defined = [(cell, cell.value) for cell in cells if cell.value is not None]
    if not defined:
        return Average(None, 0.0, _explain(cells))
    if rules == "rpx-1":
        rows = sum(cell.n for cell, _ in defined)
        return Average(math.fsum(value * cell.n for cell, value in defined) / rows, 1.0)
    scenes: dict[str | None, list[float]] = {}
    for cell, value in defined:
        scenes.setdefault(cell.scene, []).append(value)
    return Average(_mean([_mean(values) for values in scenes.values()]), 1.0)


def average_tiers(rules: Rules, cells: Sequence[Cell]) -> dict[Difficulty, Average]:
    """The mean of the cells of each difficulty."""
    return {
        tier: average_cells(rules, [cell for cell in cells if cell.difficulty is tier])
        for tier in Difficulty
    }


def weigh(rules: Rules, tiers: Mapping[Difficulty, Average]) -> Average:
    """Sum of w·M over the difficulties, w = 0.25, 0.35, 0.40; its coverage is the sum of w seen.

    With a difficulty missing, `rpx-1` divides by the weight that is left; `rpx-2` is null.
    """
    present = {tier: part.value for tier, part in tiers.items() if part.value is not None}
    coverage = math.fsum(ESD_WEIGHTS[tier] for tier in present)
    missing = ", ".join(tier for tier in tiers if tier not in present)
    if missing and (rules == "rpx-2" or not present):
        return Average(None, coverage, f"no value for difficulty {missing}")
    return Average(
        math.fsum(ESD_WEIGHTS[tier] * value for tier, value in present.items()) / coverage,
        coverage,
    )


def average_phases(phases: Mapping[Phase, Average]) -> Average:
    """Mean of the phase scores, null unless all are there; its coverage is their mean coverage."""
    coverage = _mean([part.coverage for part in phases.values()])
    values = [part.value for part in phases.values() if part.value is not None]
    if len(values) < len(phases):
        return Average(None, coverage, _missing(phases))
    return Average(_mean(values), coverage)


def compare(phases: Mapping[Phase, Average], before: Phase, after: Phase) -> Average:
    """Score of the later phase minus that of the earlier; covered as far as the worse covered."""
    first, second = phases[before], phases[after]
    coverage = min(first.coverage, second.coverage)
    if first.value is None or second.value is None:
        return Average(None, coverage, _missing({before: first, after: second}))
    return Average(_subtract(second.value, first.value), coverage)


def compare_within_scenes(cells: Sequence[Cell], before: Phase, after: Phase) -> Average:
    """Mean over scenes of the change inside the scene; scenes count equally, whatever their tier.

    A scene with a value in one of the phases only has no change: it lowers the coverage, which is
    the share of the scenes seen in either phase. Cells without a scene cannot be paired.
    """
    scenes: dict[str | None, dict[Phase, list[float]]] = {}
    for cell in cells:
        if cell.phase is before or cell.phase is after:
            values = scenes.setdefault(cell.scene, {before: [], after: []})[cell.phase]
            if cell.value is not None:
                values.append(cell.value)
    changes = [
        _subtract(_mean(values[after]), _mean(values[before]))
        for scene, values in scenes.items()
        if scene is not None and values[before] and values[after]
    ]
    if changes:
        return Average(_mean(changes), len(changes) / len(scenes))
    if set(scenes) == {None}:
        return Average(None, 0.0, "the samples name no scene")
    return Average(None, 0.0, f"no scene has a value in both {before} and {after}")


def _mean(values: Sequence[float]) -> float:
    # fsum is correctly rounded: the mean does not depend on the order of the cells.
    return math.fsum(values) / len(values)


def _subtract(after: float, before: float) -> float:
    # Otherwise a model that nothing disturbs would print as better or worse by 1e-17.
    return 0.0 if math.isclose(after, before, rel_tol=ROUNDING, abs_tol=0.0) else after - before


def _missing(phases: Mapping[Phase, Average]) -> str:
    names = ", ".join(phase for phase, part in phases.items() if part.value is None)
    return f"no score for phase {names}"


def _explain(cells: Sequence[Cell]) -> str:
    """Why no cell has a value."""
    if not cells:
        return "no samples"
    if any(cell.reason == "infinite" for cell in cells):
        return "infinite"
    undefined, failed = sum(c.undefined for c in cells), sum(c.failed for c in cells)
    if undefined and failed:
        return f"undefined for {undefined} and failed for {failed}: none is left"
    if failed:
        return f"all {failed} failed"
    return f"undefined for all {undefined}" if undefined else "undefined"
