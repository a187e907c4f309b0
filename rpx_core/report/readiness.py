"""What a run says of deployment: a grid of phases and difficulties, and the scores over it."""

from __future__ import annotations

from typing import Literal

from rpx_core.contracts import Better, Difficulty, Phase
from rpx_core.report.numbers import NO_INTERVAL
from rpx_core.stored import Finite, Stored


class GridCell(Stored):
    """The primary output in one phase and difficulty."""

    phase: Phase
    difficulty: Difficulty
    value: Finite | None
    reason: str | None = None
    scenes: int
    samples: int


class Score(Stored):
    """One readiness score.

    `coverage` is the share of the score's weight that data stood behind; `change` says whether
    a difference between phases is for the better or the worse.
    """

    name: str
    title: str
    value: Finite | None
    reason: str | None = None
    interval: tuple[Finite, Finite] | None = None
    interval_reason: str | None = NO_INTERVAL
    better: Better | None = None
    unit: str = ""
    coverage: Finite
    change: Literal["better", "worse", "equal"] | None = None


class Readiness(Stored):
    """Deployment readiness of one run under one set of rules, from its primary output."""

    rules: Literal["rpx-1", "rpx-2"]
    address: str
    better: Better | None
    unit: str
    grid: tuple[GridCell, ...]
    scores: tuple[Score, ...]
