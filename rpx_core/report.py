"""What a run says: rows, cells, numbers and the report, as stored and as shown.

Everything here crosses a file boundary: frozen pydantic models, versioned by `schema`. Unknown
values are null with a reason; NaN and infinity cannot be stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from rpx_core.contracts import Better, Difficulty, Phase, Unit
from rpx_core.files import Stamp
from rpx_core.profiling.record import Profile
from rpx_core.stored import Finite, Stored
from rpx_core.stored_text import MAX_NAME, MAX_PROSE, storable, storable_mapping

Stage = Literal["load", "predict", "validate", "save", "align", "measure", "crash"]
Tag = str | bool | int | Finite
Count = Annotated[int, Field(ge=0)]


def _cut(value: object, limit: int) -> object:
    return storable(value, limit) if isinstance(value, str) else value


def _cut_mapping(value: object) -> object:
    is_text = isinstance(value, Mapping) and all(
        isinstance(part, str) for item in value.items() for part in item
    )
    return storable_mapping(value) if is_text else value  # type: ignore[arg-type]  # checked above


Name = Annotated[str, BeforeValidator(partial(_cut, limit=MAX_NAME))]
"""A short text from elsewhere, cut to what is stored."""
Prose = Annotated[str, BeforeValidator(partial(_cut, limit=MAX_PROSE))]
"""Sentences from elsewhere, cut to what is stored."""
Description = Annotated[Mapping[str, str], BeforeValidator(_cut_mapping)]
"""What something says of itself, cut to what is stored."""

NO_INTERVAL = "intervals are not computed by this version"


class Failure(Stored):
    """Why a sample has no numbers: the stage that failed, the kind of error, and what to do."""

    stage: Stage
    error: Name
    message: Prose
    hint: Prose | None = None
    where: Name | None = None
    """File and line of the code that raised, where that is not rpx itself."""
    metric: str | None = None
    """Label of the metric that failed, where the rest of the sample is sound."""

    @property
    def text(self) -> str:
        """What happened, where, and what to do, in one line of prose."""
        owner = f"metric {self.metric}: " if self.metric else ""
        place = f" at {self.where}" if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{owner}{self.message}{place}{hint}"


class Measured(Stored):
    """What one metric says of one unit of evidence.

    `values` has every output; an undefined one is null, an infinite best one is null and named
    in `infinite`. `state` points to the stored state: offset, length and CRC-32. `reason` says
    why there is no state, `reasons` why single outputs are undefined, where the metric tells;
    `failure` that the metric raised: the other metrics stand.
    """

    values: Mapping[str, Finite | None] = Field(default_factory=dict)
    infinite: tuple[str, ...] = ()
    state: tuple[Count, Count, Count] | None = None
    reason: Prose | None = None
    reasons: Mapping[str, Prose] = Field(default_factory=dict)
    failure: Failure | None = None

    def why_undefined(self, name: str) -> str | None:
        """Why an output has no value, as far as the metric tells."""
        return self.reasons.get(name, self.reason)


class Row(Stored):
    """One unit of evidence in the journal: a sample, a pair, a sequence or a stack of answers."""

    kind: Literal["row"] = "row"
    unit: Unit
    id: str
    sequence: str
    frame: int | None = None
    scene: str | None = None
    phase: Phase | None = None
    difficulty: Difficulty | None = None
    tags: Mapping[Name, Tag] = Field(default_factory=dict)
    rgb_digest: str | None = None
    files: Mapping[str, Stamp] = Field(default_factory=dict)
    """What the sample was read from, by the name that the manifest gives it."""
    alignment: Mapping[Name, Finite] = Field(default_factory=dict)
    note: Prose | None = None
    """What the alignment warns of."""
    metrics: Mapping[str, Measured] = Field(default_factory=dict)
    failure: Failure | None = None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """All that went wrong: the whole row, or some of its metrics, alike ones together."""
        if self.failure is not None:
            return (self.failure,)
        alike: dict[Failure, list[str]] = {}
        for label, measured in self.metrics.items():
            if measured.failure is not None:
                failure = measured.failure.model_copy(update={"metric": None})
                alike.setdefault(failure, []).append(label)
        return tuple(
            failure.model_copy(update={"metric": ", ".join(labels)})
            for failure, labels in alike.items()
        )

    @property
    def is_failed(self) -> bool:
        """Whether there is nothing to read: the row failed, or every metric of it."""
        lost = [measured.failure is not None for measured in self.metrics.values()]
        return self.failure is not None or (bool(lost) and all(lost))


SampleRow = Row


class RunRecord(Stored):
    """What is evaluated: equal in every shard and worker of a run, whatever the hardware.

    `inputs` is what the identity is the digest of: configuration, data, and the names, versions
    and options of everything that can move a number.
    """

    schema_: Literal["rpx-run-1"] = Field(default="rpx-run-1", alias="schema")
    name: str
    identity: str
    task: str
    model: str
    data: str
    protocol: str | None = None
    primary: str
    """Address of the headline number."""
    dataset_samples: Count
    selected_samples: Count
    sequences: Count
    partial: tuple[Prose, ...] = ()
    """Why what is evaluated is not the whole of its data, beside a limit."""
    warnings: tuple[Prose, ...] = ()
    inputs: Mapping[str, Any]

    @property
    def alignment(self) -> str | None:
        """How predictions were fitted to the truth, in words; None where they were not."""
        align = self.inputs.get("align") or {}
        if align.get("method", "none") == "none":
            return None
        return f"{align['method']} fit to the truth, per {align['scope']}"


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


class Slice(Stored):
    """The headline numbers of the samples that share one value of a key."""

    key: str
    value: str
    samples: int
    numbers: tuple[Number, ...]


class FailedSample(Stored):
    """One sample without numbers."""

    id: str
    sequence: str
    failure: Failure


class WorstSample(Stored):
    """One of the worst samples by the primary output, with its pictures if any were kept."""

    id: str
    value: Finite
    values: Mapping[str, Finite | None]
    pictures: tuple[tuple[str, str], ...] = ()
    """(caption, path relative to the run directory)."""


class Status(Stored):
    """How much of the data the numbers stand on."""

    complete: bool
    partial: tuple[str, ...] = ()
    """Why the numbers are not those of the whole dataset: a limit, a shard, unfinished work."""
    dataset_samples: int
    selected_samples: int
    evaluated_samples: int
    failed_samples: int
    failed_others: int = 0
    """Pairs, sequences and stacks that failed though their samples did not, and samples that some
    but not all metrics failed on."""
    unfinished_sequences: int = 0
    """How many sequences have not been evaluated yet, by this or by another shard."""

    @property
    def failed(self) -> int:
        """Everything that failed: what `max_failed` limits."""
        return self.failed_samples + self.failed_others


class Writer(Stored):
    """One process that wrote to the journal: the first line of its file."""

    kind: Literal["writer"] = "writer"
    schema_: Literal["rpx-journal-1"] = Field(default="rpx-journal-1", alias="schema")
    run: str = ""
    """Identity of the run that the file belongs to."""
    writer: Name
    started: Name
    host: Name
    device: Name
    versions: Description
    model: Description = Field(default_factory=dict)


class Report(Stored):
    """Everything a run says; `result.json` is this, strictly."""

    schema_: Literal["rpx-report-1"] = Field(default="rpx-report-1", alias="schema")
    run: RunRecord
    status: Status
    primary: str
    numbers: tuple[Number, ...]
    readiness: Readiness
    slices: tuple[Slice, ...] = ()
    failures: tuple[FailedSample, ...] = ()
    worst: tuple[WorstSample, ...] = ()
    warnings: tuple[str, ...] = ()
    writers: tuple[Writer, ...] = ()
    efficiency: Profile | None = None
    """What the model costs; null where the run was not profiled."""

    @property
    def labels_without_value(self) -> tuple[str, ...]:
        """The metrics of which no number has a value."""
        valued = {number.label for number in self.numbers if number.value is not None}
        return tuple(
            dict.fromkeys(number.label for number in self.numbers if number.label not in valued)
        )

    def number(self, address: str) -> Number:
        """The number at `label.output@aggregate`; KeyError when there is none."""
        for number in self.numbers:
            if number.address == address:
                return number
        raise KeyError(address)


@dataclass(frozen=True)
class Results:
    """What a reporter renders: the report, its rows in id order, and its cells."""

    report: Report
    rows: Sequence[Row]
    cells: Sequence[Cell]
    run_directory: Path | None = None
    """Where picture paths start; None when nothing was kept on disk."""
    others: Sequence[Report] = field(default=())
    """Further runs to show beside this one."""
    sequences: frozenset[str] = frozenset()
    """Those that are closed in the journal."""
    problems: Sequence[str] = field(default=())
    """Metrics that failed on folded states: numbers are missing that should be there."""
