"""Models: what runs, and what it may know of where it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rpx_core.contracts.sample import Sample


@dataclass(frozen=True)
class Runtime:
    """What a model may know of where it runs, and for which task.

    `device` is as torch writes it, `cpu` or `cuda:0`. `task` is the bare name of the task, for
    models that serve several; "" where a model is built outside of a run.
    """

    device: str
    seed: int
    cache: Path
    task: str = ""


class Model(Protocol):
    """What runs: a prediction for every sample of a batch, in order.

    Optional members, used where present: `reset()` at each sequence start (its presence means
    that the model has memory, and batches then stay inside one sequence); `batch = "sequence"`
    (wants all frames of a sequence at once); `synchronize()` before a clock is read;
    `describe() -> Mapping[str, str]` for the record; `close()` at the end; `module`, the torch
    module that does the work, or a list or mapping of several, whose parameters `--profile` counts
    (without it they are looked for in the model's attributes).
    """

    task: str

    def setup(self) -> None:
        """Load weights and move to the device; called once, before the first batch."""
        ...

    def predict(self, batch: Sequence[Sample]) -> Sequence[Any]:
        """One prediction per sample, in the order given; never changes the samples."""
        ...
