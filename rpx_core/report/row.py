"""What one unit of evidence says: its row in the journal, with what failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rpx_core.contracts import Difficulty, Phase, Unit
from rpx_core.files import Stamp
from rpx_core.report.bounded import Count, Name, Prose
from rpx_core.stored import Finite, Stored

Stage = Literal["load", "predict", "validate", "save", "align", "measure", "crash"]
Tag = str | bool | int | Finite


def owner_of(label: str) -> str:
    """How an error begins that is about the metric of a label."""
    return f"metric {label}: "


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
        # Errors of metrics may be shown alone, and name theirs themselves.
        owner = owner_of(self.metric) if self.metric else ""
        place = f" at {self.where}" if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{owner}{self.message.removeprefix(owner)}{place}{hint}"


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
