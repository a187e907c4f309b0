"""ESD, the weighted phase score, state-transition robustness and temporal stability of a run.

`rpx-1` keeps the published formulas: sample rows are averaged, tiers that are missing are left
out and the weights of the others renormalised, transitions compare phase scores. `rpx-2` is the
corrected set: scenes count equally, a missing tier or phase makes a score null (its coverage says
how much was there), and transitions are paired within scenes. In neither does a missing value
become 0; deltas always say whether they are for the better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rpx_core.contracts import Better, Difficulty, Phase
from rpx_core.report import Cell, GridCell, Number, Readiness, Score

Rules = Literal["rpx-1", "rpx-2"]

ESD_WEIGHTS: Mapping[Difficulty, float] = MappingProxyType(
    {Difficulty.EASY: 0.25, Difficulty.MEDIUM: 0.35, Difficulty.HARD: 0.40}
)


@dataclass(frozen=True)
class Basis:
    """What readiness is computed from: the primary output's cells and how to read them."""

    address: str
    cells: Sequence[Cell]
    better: Better | None
    unit: str
    stability: Number | None


@dataclass(frozen=True)
class _Part:
    """A value on its way to a score, with the share of weight behind it."""

    value: float | None
    coverage: float
    reason: str | None = None


def compute_readiness(rules: Rules, basis: Basis) -> Readiness:
    """All readiness scores of one run."""
    phases = {phase: _phase_score(rules, basis.cells, phase) for phase in Phase}
    tiers = {tier: _tier_mean(rules, basis.cells, tier) for tier in Difficulty}
    scores = [
        *(_score(basis, f"esd_{tier}", f"ESD, {tier}", part) for tier, part in tiers.items()),
        _score(basis, "esd", "ESD, weighted", _weighted(rules, tiers)),
        *(
            _score(basis, f"s_{phase}", f"Phase score, {phase}", part)
            for phase, part in phases.items()
        ),
        _score(basis, "s_overall", "Phase score, overall", _overall(phases)),
        *_deltas(basis, phases),
        *_transitions(rules, basis, phases),
        _stability(basis.stability),
    ]
    return Readiness(
        rules=rules,
        address=basis.address,
        better=basis.better,
        unit=basis.unit,
        grid=tuple(_grid(rules, basis.cells)),
        scores=tuple(scores),
    )


def change(
    delta: float | None, better: Better | None
) -> Literal["better", "worse", "equal"] | None:
    """Whether a difference is an improvement, by the direction of the output."""
    if delta is None or better is None:
        return None
    if delta == 0:
        return "equal"
    return "better" if (delta < 0) == (better == "lower") else "worse"


def _grid(rules: Rules, cells: Sequence[Cell]) -> Iterable[GridCell]:
    if not any(cell.phase or cell.difficulty for cell in cells):
        return
    for phase in Phase:
        for tier in Difficulty:
            inside = [c for c in cells if c.phase is phase and c.difficulty is tier]
            part = _mean(rules, inside, f"no data for {phase}, {tier}")
            yield GridCell(
                phase=phase,
                difficulty=tier,
                value=part.value,
                reason=part.reason,
                scenes=len({c.scene for c in inside if c.value is not None}),
                samples=sum(c.n for c in inside),
            )


def _mean(rules: Rules, cells: Sequence[Cell], nothing: str) -> _Part:
    """Mean of cells: of sample rows under rpx-1, of scenes under rpx-2."""
    defined = [(cell, cell.value) for cell in cells if cell.value is not None]
    if not defined:
        return _Part(None, 0.0, nothing)
    if rules == "rpx-1":
        rows = sum(cell.n for cell, _ in defined)
        return _Part(math.fsum(value * cell.n for cell, value in defined) / rows, 1.0)
    scenes: dict[str | None, list[float]] = {}
    for cell, value in defined:
        scenes.setdefault(cell.scene, []).append(value)
    means = [math.fsum(values) / len(values) for values in scenes.values()]
    return _Part(math.fsum(means) / len(means), 1.0)


def _tier_mean(rules: Rules, cells: Sequence[Cell], tier: Difficulty) -> _Part:
    return _mean(rules, [c for c in cells if c.difficulty is tier], f"no {tier} samples")


def _phase_score(rules: Rules, cells: Sequence[Cell], phase: Phase) -> _Part:
    inside = [cell for cell in cells if cell.phase is phase]
    if not inside:
        return _Part(None, 0.0, f"no samples in phase {phase}")
    return _weighted(rules, {tier: _tier_mean(rules, inside, tier) for tier in Difficulty})


def _weighted(rules: Rules, tiers: Mapping[Difficulty, _Part]) -> _Part:
    present = {tier: part.value for tier, part in tiers.items() if part.value is not None}
    coverage = math.fsum(ESD_WEIGHTS[tier] for tier in present)
    missing = [str(tier) for tier in Difficulty if tier not in present]
    if not present:
        return _Part(None, 0.0, "no sample has a difficulty and a value")
    total = math.fsum(ESD_WEIGHTS[tier] * value for tier, value in present.items())
    if rules == "rpx-1":
        return _Part(total / coverage, coverage)
    if missing:
        return _Part(None, coverage, f"no value for difficulty {', '.join(missing)}")
    return _Part(total, coverage)


def _overall(phases: Mapping[Phase, _Part]) -> _Part:
    coverage = math.fsum(part.coverage for part in phases.values()) / len(phases)
    values = [part.value for part in phases.values() if part.value is not None]
    if len(values) < len(phases):
        missing = ", ".join(phase for phase, part in phases.items() if part.value is None)
        return _Part(None, coverage, f"no score for phase {missing}")
    return _Part(math.fsum(values) / len(values), coverage)


def _difference(phases: Mapping[Phase, _Part], before: Phase, after: Phase) -> _Part:
    first, second = phases[before], phases[after]
    coverage = min(first.coverage, second.coverage)
    if first.value is None or second.value is None:
        return _Part(None, coverage, first.reason or second.reason)
    return _Part(second.value - first.value, coverage)


def _deltas(basis: Basis, phases: Mapping[Phase, _Part]) -> list[Score]:
    steps = {
        "delta_int": ("Interaction minus clutter", Phase.CLUTTER, Phase.INTERACTION),
        "delta_rec": ("Clean minus interaction", Phase.INTERACTION, Phase.CLEAN),
    }
    return [
        _delta(basis, name, title, _difference(phases, before, after))
        for name, (title, before, after) in steps.items()
    ]


def _transitions(rules: Rules, basis: Basis, phases: Mapping[Phase, _Part]) -> list[Score]:
    steps = {
        "str_c_to_i": ("STR, clutter to interaction", Phase.CLUTTER, Phase.INTERACTION),
        "str_i_to_l": ("STR, interaction to clean", Phase.INTERACTION, Phase.CLEAN),
    }
    return [
        _delta(
            basis,
            name,
            title,
            _difference(phases, before, after)
            if rules == "rpx-1"
            else _paired(basis.cells, before, after),
        )
        for name, (title, before, after) in steps.items()
    ]


def _paired(cells: Sequence[Cell], before: Phase, after: Phase) -> _Part:
    """Mean over scenes of the change within the scene; scenes seen in one phase only drop out."""
    scenes = sorted({cell.scene or "" for cell in cells if cell.phase in (before, after)})
    changes = []
    for scene in scenes:
        inside = [cell for cell in cells if (cell.scene or "") == scene]
        first = _mean("rpx-2", [cell for cell in inside if cell.phase is before], "")
        second = _mean("rpx-2", [cell for cell in inside if cell.phase is after], "")
        if first.value is not None and second.value is not None:
            changes.append(second.value - first.value)
    if not changes:
        return _Part(None, 0.0, f"no scene has a value in both {before} and {after}")
    return _Part(math.fsum(changes) / len(changes), len(changes) / len(scenes))


def _delta(basis: Basis, name: str, title: str, part: _Part) -> Score:
    # A difference has no direction of its own: the output's says what it means.
    return _score(basis, name, title, part).model_copy(
        update={"better": None, "change": change(part.value, basis.better)}
    )


def _score(basis: Basis, name: str, title: str, part: _Part) -> Score:
    return Score(
        name=name,
        title=title,
        value=part.value,
        reason=part.reason,
        better=basis.better,
        unit=basis.unit,
        coverage=part.coverage,
    )


def _stability(number: Number | None) -> Score:
    title = "Temporal stability"
    if number is None:
        return Score(
            name="ts",
            title=title,
            value=None,
            better="higher",
            coverage=0.0,
            reason="no temporal stability metric was run for this task",
        )
    pairs = number.n + number.undefined + number.failed
    return Score(
        name="ts",
        title=title,
        value=number.value,
        reason=number.reason,
        better=number.better,
        unit=number.unit,
        coverage=number.n / pairs if pairs else 0.0,
    )
