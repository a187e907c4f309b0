"""What is evaluated, by whom, and how far: the record of a run, its writers and its status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rpx_core.report.bounded import Count, Description, Name, Prose
from rpx_core.stored import Stored


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


class Changed(Stored):
    """What a model says of itself by now, where its writer's first line has something else.

    It stands between sequences: that a batch does not fit into memory shows only after the start.
    """

    kind: Literal["model"] = "model"
    model: Description


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
