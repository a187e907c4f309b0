"""Profiling the model of a run in a process of its own.

A fresh process has the memory of nothing else, and a model that crashes in it takes nothing along.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from rpx_core.contracts import Sample, Task, withhold
from rpx_core.errors import ModelError
from rpx_core.guard import guarded
from rpx_core.inference.devices import choose_device
from rpx_core.interrupts import watch_interrupts
from rpx_core.model_calls import set_up
from rpx_core.models import build_model
from rpx_core.profiling.batches import MAX_SAMPLES, cut_batches
from rpx_core.profiling.memory import MemoryMeter
from rpx_core.profiling.profiler import Method, Subject, profile
from rpx_core.profiling.record import Profile
from rpx_core.profiling.timing import Budget
from rpx_core.report import Failure
from rpx_core.worker import Job, Work

_STDOUT, _STDERR = 1, 2


@dataclass(frozen=True)
class Assignment:
    """A model to profile and the data to do it on; plain data, so that it can be sent."""

    job: Job
    works: tuple[Work, ...]
    budget: Budget = field(default_factory=Budget)


def profile_job(assignment: Assignment) -> Profile | Failure:
    """The profile, or why there is none: whatever the model did, the caller goes on."""
    if assignment.job.model.kind == "object":
        # It lives in this process alone.
        return _profile_here(assignment)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, assignment))
    process.start()
    theirs.close()
    try:
        outcome: Profile | Failure = ours.recv()
    except (EOFError, OSError):
        process.join()
        outcome = Failure(
            stage="crash",
            error="ProcessDied",
            message=f"the process that profiled the model died (exit code {process.exitcode})",
        )
    finally:
        ours.close()
        process.kill()
        process.join()
    return outcome


def _serve(connection: Connection, assignment: Assignment) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_interrupts()
    # Standard output belongs to the parent, which may owe its reader one JSON document.
    with suppress(OSError):
        os.dup2(_STDERR, _STDOUT)
    outcome = _profile_here(assignment)
    with suppress(OSError):
        connection.send(outcome)


def _profile_here(assignment: Assignment) -> Profile | Failure:
    outcome: Profile | Failure = guarded("predict", lambda: _profile(assignment))
    return outcome


def _profile(assignment: Assignment) -> Profile:
    job = assignment.job
    task = job.task.build()
    samples = _load(job, task, assignment.works)
    if not samples:
        raise ModelError(
            "no sample of the run could be loaded to profile its model on",
            hint="`rpx data check` says what is wrong with them",
        )
    meter = MemoryMeter()
    device = choose_device(job.runtime.device, uses_torch=job.model.uses_torch)
    model = build_model(job.model, task, replace(job.runtime, device=device))
    set_up(model)
    try:
        batches = cut_batches(samples, model, job.batch_size)
        subject = Subject(job.record.identity, job.model.name, device)
        return profile(model, batches, subject, Method(assignment.budget, meter=meter))
    finally:
        close = getattr(model, "close", None)
        if callable(close):
            close()


def _load(job: Job, task: Task[Any, Any], works: Iterable[Work]) -> list[Sample]:
    """The first samples that can be loaded, as a model gets them; the run tells of the others."""
    samples: list[Sample] = []
    for work in works:
        for record in work.records:
            if len(samples) >= max(MAX_SAMPLES, job.batch_size):
                return samples
            files = job.files.declaring(record.checksums)
            loaded = guarded("load", partial(task.load, record, files))
            if not isinstance(loaded, Failure):
                samples.append(withhold(loaded))
    return samples


def choose_works(works: Iterable[Work], batch_size: int) -> tuple[Work, ...]:
    """The first sequences that together have enough samples for a profile."""
    chosen: list[Work] = []
    for work in works:
        chosen.append(work)
        if sum(len(one.records) for one in chosen) >= max(MAX_SAMPLES, batch_size):
            break
    return tuple(chosen)
