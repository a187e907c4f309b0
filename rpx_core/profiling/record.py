"""What profiling says, as stored: `profile.json` in a run directory, `efficiency` in a report."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rpx_core.stored import Finite, Stored


class Quantity(Stored):
    """One number, or null with the reason why there is none."""

    value: Annotated[int, Field(ge=-(10**30), le=10**30)] | Finite | None = None
    reason: str | None = None

    def scaled(self, unit: float) -> float | None:
        """The value in units of `unit`: 1e6 for millions."""
        return None if self.value is None else self.value / unit


class Latency(Stored):
    """How long one call of `predict()` takes, from the samples in memory to the predictions.

    What an adapter does before and after the network is part of it, reading files is not.
    Percentiles are over `calls`, interpolated linearly; warm-up calls, and the one that counts
    operations, are not among them.
    """

    p50_ms: Finite
    p95_ms: Finite
    p99_ms: Finite
    per_sample_ms: Finite
    """The median call, divided by the samples of a batch."""
    samples_per_second: Finite
    """All samples over all time: what a queue that never runs dry would see."""
    calls: int
    warm_up: int


class Memory(Stored):
    """The largest amounts that were in use while the model was built, set up and timed.

    `process` is how far the resident set of the process grew above what it was before: weights,
    libraries and temporaries. `accelerator` is what torch had allocated on its GPUs, without its
    cache.
    """

    process_bytes: Quantity
    accelerator_bytes: Quantity


class Hardware(Stored):
    """Where latency and memory were measured; without it they mean nothing."""

    device: str
    processor: str
    cores: int
    """Logical cores that the process may use."""
    memory_bytes: int | None = None
    accelerator: str | None = None
    accelerator_memory_bytes: int | None = None
    torch: str | None = None
    threads: int | None = None
    """Threads of torch inside one operation."""
    precision: str | None = None
    """Type of most of the model's parameters."""

    @property
    def place(self) -> tuple[object, ...]:
        """What must be equal for two latencies to be compared; versions of libraries may differ."""
        own = (self.device, self.processor, self.cores)
        # A GPU does the work: which processor feeds it matters less than which GPU it is.
        return (self.accelerator,) if self.accelerator else own


class Profile(Stored):
    """What one model costs on one machine.

    Operations and activations are those of one call, for a batch of `batch_size`; `flops` is
    divided by it. A multiplication with an addition is two operations.
    """

    schema_: Literal["rpx-profile-1"] = Field(default="rpx-profile-1", alias="schema")
    run: str
    """Identity of the run whose model this is."""
    model: str
    measured: str
    """When, in UTC."""
    batch_size: int
    samples: int
    """How many different samples were predicted."""
    parameters: Quantity
    trainable_parameters: Quantity
    flops: Quantity
    activations_bytes: Quantity
    activations_bytes_fp16: Quantity
    latency: Latency
    memory: Memory
    hardware: Hardware
    notes: tuple[str, ...] = ()
