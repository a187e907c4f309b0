"""Cells of a run in short form, and the readiness scores of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rpx_core.contracts import Better, Difficulty, Phase
from rpx_core.readiness.averages import Rules
from rpx_core.readiness.scores import Basis, compute_readiness
from rpx_core.report import Cell, Number, Readiness, Score

EASY, MEDIUM, HARD = Difficulty
CLUTTER, INTERACTION, CLEAN = Phase
RULES: tuple[Rules, ...] = ("rpx-1", "rpx-2")
LEVELS = ("esd", "s_clutter", "s_interaction", "s_clean", "s_overall")
TIER_LEVELS = ("esd_easy", "esd_medium", "esd_hard")
DELTAS = ("delta_int", "delta_rec")
TRANSITIONS = ("str_c_to_i", "str_i_to_l")


@dataclass(frozen=True)
class Seen:
    """One scene's value in one phase, and the number of samples behind it."""

    scene: str | None
    tier: Difficulty | None
    phase: Phase | None
    value: float | None
    samples: int = 1


def make_cell(seen: Seen, **fields: object) -> Cell:
    return Cell.model_validate(
        {
            "label": "depth",
            "output": "absrel",
            "phase": seen.phase,
            "difficulty": seen.tier,
            "scene": seen.scene,
            "value": seen.value,
            "n": seen.samples if seen.value is not None else 0,
            **fields,
        }
    )


def rate(
    rules: Rules,
    cells: Sequence[Seen | Cell],
    *,
    better: Better | None = "lower",
    stability: Number | None = None,
) -> Readiness:
    found = [make_cell(cell) if isinstance(cell, Seen) else cell for cell in cells]
    return compute_readiness(rules, Basis("depth.absrel@sample", found, better, "m", stability))


def scores(rules: Rules, cells: Sequence[Seen | Cell], **how: object) -> dict[str, Score]:
    readiness = rate(rules, cells, **how)  # type: ignore[arg-type]  # keywords of rate
    return {score.name: score for score in readiness.scores}
