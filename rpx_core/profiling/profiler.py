"""Profiling one model on batches of samples: memory and time first, then what slows it down."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rpx_core.contracts import Model
from rpx_core.model_calls import has_memory, predict_checked
from rpx_core.profiling.batches import Batch, Batches
from rpx_core.profiling.hardware import describe_hardware
from rpx_core.profiling.memory import MemoryMeter
from rpx_core.profiling.modules import NO_TORCH, find_modules, loaded_torch
from rpx_core.profiling.operations import Operations, count_operations
from rpx_core.profiling.parameters import count_parameters
from rpx_core.profiling.record import Profile, Quantity
from rpx_core.profiling.timing import Budget, Clock, Stopwatch, make_synchronize, time_calls

_UNCOUNTED_SHOWN = 5


@dataclass(frozen=True)
class Subject:
    """What a profile is of."""

    run: str
    model: str
    device: str = "cpu"


@dataclass(frozen=True)
class Method:
    """How it is measured; `meter` was started before the model was built."""

    budget: Budget = field(default_factory=Budget)
    clock: Clock = time.perf_counter
    meter: MemoryMeter | None = None


def profile(model: Model, batches: Batches, subject: Subject, method: Method) -> Profile:
    """Profile a model that is set up; whatever the model raises passes through.

    Timed are whole calls of `predict()` after whole warm-up batches. Operations are counted in one
    more call after that, which is not timed.
    """
    meter = method.meter or MemoryMeter()
    stopwatch = Stopwatch(make_synchronize(model), method.clock)
    latency = time_calls(lambda index: _prepare(model, batches.at(index)), stopwatch, method.budget)
    memory = meter.read()
    # Now that it has predicted, a model that loads late has loaded.
    parameters = count_parameters(find_modules(model))
    size, call = _prepare(model, batches.at(latency.warm_up + latency.calls))
    operations = count_operations(call)
    return Profile(
        run=subject.run,
        model=subject.model,
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        batch_size=size,
        samples=batches.samples,
        parameters=parameters.total,
        trainable_parameters=parameters.trainable,
        flops=_quantity(operations, operations.flops, size),
        activations_bytes=_quantity(operations, operations.activations_bytes),
        activations_bytes_fp16=_quantity(operations, operations.activations_bytes_fp16),
        latency=latency,
        memory=memory,
        hardware=describe_hardware(subject.device, parameters.precision),
        notes=_notes(operations, latency.calls, method.budget),
    )


def _prepare(model: Model, batch: Batch) -> tuple[int, Callable[[], object]]:
    if batch.starts and has_memory(model):
        model.reset()  # type: ignore[attr-defined]  # has_memory() means just that
    return len(batch.samples), lambda: predict_checked(model, batch.samples)


def _quantity(operations: Operations, value: int | None, per: int = 1) -> Quantity:
    if value is None:
        return Quantity(reason=operations.reason or NO_TORCH)
    return Quantity(value=value if per == 1 else value / per)


def _notes(operations: Operations, calls: int, budget: Budget) -> tuple[str, ...]:
    notes = []
    if operations.uncounted:
        names = ", ".join(operations.uncounted[:_UNCOUNTED_SHOWN])
        more = len(operations.uncounted) - _UNCOUNTED_SHOWN
        notes.append(
            f"FLOPs are a lower bound: no formula for {names}"
            + (f" and {more} more" if more > 0 else "")
        )
    if calls < budget.calls:
        notes.append(
            f"{calls} calls were timed instead of {budget.calls}, for lack of time: "
            "p95 and p99 say little"
        )
    torch = loaded_torch()
    if torch is not None and operations.flops == 0:
        notes.append("torch ran, but nothing that has a formula: convolutions, products, attention")
    return tuple(notes)
