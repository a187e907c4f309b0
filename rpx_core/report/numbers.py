"""Published numbers, with all that is needed to read them; and the cells that scores stand on."""

from __future__ import annotations

from rpx_core.contracts import Better, Difficulty, Phase, Unit
from rpx_core.stored import Finite, Stored

NO_INTERVAL = "intervals are not computed by this version"


class Counts(Stored):
    """What a number is made of: counts by row and column, with what both mean."""

    caption: str
    row_axis: str
    column_axis: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


class Number(Stored):
    """One published number, never without what is needed to read it.

    `n` counts the units of evidence behind the value, `undefined` and `failed` those without
    one, `infinite` those with an unboundedly good one, which a mean leaves out.
    """

    address: str
    label: str
    output: str
    aggregate: str
    value: Finite | None
    reason: str | None = None
    interval: tuple[Finite, Finite] | None = None
    interval_reason: str | None = NO_INTERVAL
    better: Better | None = None
    unit: str = ""
    n: int
    undefined: int = 0
    failed: int = 0
    infinite: int = 0
    headline: bool = False
    evidence: Unit = Unit.SAMPLE
    """What is counted: samples, pairs of frames, sequences or stacks."""
    table: Counts | None = None
    """The counts behind a pooled value, where its metric has a table of them."""


class Cell(Stored):
    """One output in one phase, difficulty and scene, by its headline aggregate."""

    label: str
    output: str
    phase: Phase | None
    difficulty: Difficulty | None
    scene: str | None
    value: Finite | None
    reason: str | None = None
    n: int
    undefined: int = 0
    failed: int = 0


class Slice(Stored):
    """The headline numbers of the samples that share one value of a key."""

    key: str
    value: str
    samples: int
    numbers: tuple[Number, ...]
