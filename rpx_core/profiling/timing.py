"""Timing calls: warm-up first, then the clock, with the device idle at every reading."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rpx_core.profiling.modules import loaded_torch
from rpx_core.profiling.record import Latency

Clock = Callable[[], float]
"""Seconds since whenever; only differences count."""


@dataclass(frozen=True)
class Budget:
    """How much is measured: whole batches to warm up, then `calls`, fewer if `seconds` are over.

    At least `least` calls are timed, however long they take.
    """

    warm_up: int = 3
    calls: int = 50
    seconds: float = 30.0
    least: int = 3


@dataclass(frozen=True)
class Stopwatch:
    """A clock, and what must be waited for before it is read."""

    synchronize: Callable[[], object]
    clock: Clock = time.perf_counter

    def read(self) -> float:
        """The time once all work that was given to the device is done."""
        self.synchronize()
        return self.clock()


def time_calls(
    prepare: Callable[[int], tuple[int, Callable[[], object]]],
    stopwatch: Stopwatch,
    budget: Budget,
) -> Latency:
    """Time calls one by one.

    `prepare(i)` makes call `i` ready and returns its number of samples and the call; only the call
    is timed.
    """
    for index in range(budget.warm_up):
        _, call = prepare(index)
        call()
    seconds: list[float] = []
    samples: list[int] = []
    while len(seconds) < budget.calls:
        if len(seconds) >= budget.least and sum(seconds) >= budget.seconds:
            break
        count, call = prepare(budget.warm_up + len(seconds))
        start = stopwatch.read()
        call()
        seconds.append(stopwatch.read() - start)
        samples.append(count)
    return _summarise(seconds, samples, budget.warm_up)


def make_synchronize(model: object) -> Callable[[], object]:
    """The model's own `synchronize()`, or that of torch on CUDA, or nothing to wait for."""
    own = getattr(model, "synchronize", None)
    if callable(own):
        return own  # type: ignore[no-any-return]  # whatever it returns is ignored
    return _synchronize_cuda


def _synchronize_cuda() -> None:
    torch = loaded_torch()
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _summarise(seconds: list[float], samples: list[int], warm_up: int) -> Latency:
    p50, p95, p99 = (1000 * np.quantile(seconds, [0.5, 0.95, 0.99])).tolist()
    per_sample = np.median(np.divide(seconds, samples))
    # A clock that did not move would make an infinite throughput.
    total = max(sum(seconds), 1e-9)
    return Latency(
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        per_sample_ms=1000 * float(per_sample),
        samples_per_second=sum(samples) / total,
        calls=len(seconds),
        warm_up=warm_up,
    )
