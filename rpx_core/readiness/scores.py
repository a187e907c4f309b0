"""The readiness scores of a run: ESD, weighted phase score, state transitions, stability.

M(p, d) is the primary output in phase p (C clutter, I interaction, L clean) and difficulty d.

| score | formula |
|---|---|
| `esd_easy`, `esd_medium`, `esd_hard` | M(d), over all phases |
| `esd` | 0.25·M(easy) + 0.35·M(medium) + 0.40·M(hard) |
| `s_clutter`, `s_interaction`, `s_clean` | S_p = the same sum over M(p, d) |
| `s_overall` | (S_C + S_I + S_L) / 3 |
| `delta_int`, `delta_rec` | S_I − S_C, S_L − S_I |
| `str_c_to_i`, `str_i_to_l` | `rpx-1`: the deltas again; `rpx-2`: mean change within scenes |
| `ts` | the temporal stability of the task; at most 1, higher is better |

All but `ts` have the unit and range of the primary output; levels also have its direction, while
a change is signed as computed and says in words whether it is for the better.

`rpx-1` keeps the published formulas: sample rows are averaged, and of a phase score without some
difficulty the weights that are left are renormalised. `rpx-2` corrects them: scenes count
equally, a missing difficulty or phase makes a score null, and transitions are paired within
scenes. In neither does a missing value become 0, as it does in the published functions
(`rpx_core.published.readiness`).

Coverage is the share of the score's weight that data stood behind: weight of the difficulties
seen, averaged over phases for `s_overall`, the lesser of both phases for a delta; scenes seen in
both phases among those seen in either for a paired transition; pairs with a value among all for
`ts`. Under `rpx-2`, ESD, phase scores and deltas are null exactly where it is below 1.

Source: the RPX benchmark (Jaykumar P et al., 2026), with the weights of its difficulty tiers.

The trap: a level averages whatever was in each phase, so a delta also moves when the phases show
other scenes. The paired transition of `rpx-2` compares each scene with itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rpx_core.contracts import Better, Difficulty, Phase
from rpx_core.readiness.averages import (
    Average,
    Rules,
    average_cells,
    average_phases,
    average_tiers,
    compare,
    compare_within_scenes,
    weigh,
)
from rpx_core.report import Cell, GridCell, Number, Readiness, Score


@dataclass(frozen=True)
class Basis:
    """What readiness is computed from: the primary output's cells and how to read them.

    `stability` is the headline number of the temporal stability metric, if one ran.
    """

    address: str
    cells: Sequence[Cell]
    better: Better | None
    unit: str
    stability: Number | None


def compute_readiness(rules: Rules, basis: Basis) -> Readiness:
    """All readiness scores of one run; equal bits for equal cells, in whatever order."""
    return Readiness(
        rules=rules,
        address=basis.address,
        better=basis.better,
        unit=basis.unit,
        grid=tuple(_grid(rules, basis.cells)),
        scores=(*_levels(rules, basis), *_changes(rules, basis), _stability(basis.stability)),
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


def _grid(rules: Rules, cells: Sequence[Cell]) -> Iterator[GridCell]:
    if not any(cell.phase or cell.difficulty for cell in cells):
        return
    for phase in Phase:
        for tier in Difficulty:
            inside = [c for c in cells if c.phase is phase and c.difficulty is tier]
            average = average_cells(rules, inside)
            yield GridCell(
                phase=phase,
                difficulty=tier,
                value=average.value,
                reason=average.reason,
                scenes=len({c.scene for c in inside if c.value is not None}),
                samples=sum(c.n for c in inside),
            )


def _levels(rules: Rules, basis: Basis) -> Iterator[Score]:
    tiers = average_tiers(rules, basis.cells)
    phases = _phases(rules, basis.cells)
    for tier, average in tiers.items():
        yield _level(basis, f"esd_{tier}", f"ESD, {tier}", average)
    yield _level(basis, "esd", "ESD, weighted", weigh(rules, tiers))
    for phase, average in phases.items():
        yield _level(basis, f"s_{phase}", f"Phase score, {phase}", average)
    yield _level(basis, "s_overall", "Phase score, overall", average_phases(phases))


def _changes(rules: Rules, basis: Basis) -> Iterator[Score]:
    phases = _phases(rules, basis.cells)
    interaction = (Phase.CLUTTER, Phase.INTERACTION)
    recovery = (Phase.INTERACTION, Phase.CLEAN)
    for name, title, steps in (
        ("delta_int", "Interaction minus clutter", interaction),
        ("delta_rec", "Clean minus interaction", recovery),
    ):
        yield _change(basis, name, title, compare(phases, *steps))
    for name, title, steps in (
        ("str_c_to_i", "STR, clutter to interaction", interaction),
        ("str_i_to_l", "STR, interaction to clean", recovery),
    ):
        paired = rules == "rpx-2"
        average = compare_within_scenes(basis.cells, *steps) if paired else compare(phases, *steps)
        yield _change(basis, name, title, average)


def _phases(rules: Rules, cells: Sequence[Cell]) -> Mapping[Phase, Average]:
    return {phase: _phase_score(rules, [c for c in cells if c.phase is phase]) for phase in Phase}


def _phase_score(rules: Rules, cells: Sequence[Cell]) -> Average:
    if not cells:
        return Average(None, 0.0, "no samples")
    return weigh(rules, average_tiers(rules, cells))


def _level(basis: Basis, name: str, title: str, average: Average) -> Score:
    return Score(
        name=name,
        title=title,
        value=average.value,
        reason=average.reason,
        better=basis.better,
        unit=basis.unit,
        coverage=average.coverage,
    )


def _change(basis: Basis, name: str, title: str, average: Average) -> Score:
    # A difference has no direction of its own: that of the output says what it means.
    return _level(basis, name, title, average).model_copy(
        update={"better": None, "change": change(average.value, basis.better)}
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
            reason="not defined for this task, or left out of the metrics of this run",
        )
    pairs = number.n + number.undefined + number.failed
    return Score(
        name="ts",
        title=title,
        value=number.value,
        reason=number.reason,
        interval=number.interval,
        interval_reason=number.interval_reason,
        better=number.better,
        unit=number.unit,
        coverage=number.n / pairs if pairs else 0.0,
    )
