"""The process executor: spawned workers, each with its own journal; survives their death.

The parent learns by pipe which samples are in flight. When a worker dies, the sequence is redone
sample by sample; a sample that kills a second worker becomes a failed row of stage `crash`, and
the rest of its sequence is done without it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from rpx_core.blocks import Block
from rpx_core.errors import IncompleteRunError, ModelError, last_words
from rpx_core.executors import Observer, chunks
from rpx_core.executors.memory import keep_freed_memory
from rpx_core.interrupts import watch_interrupts
from rpx_core.report import Failure
from rpx_core.worker import Job, Work, Worker

MAX_IDLE_DEATHS = 3
"""Workers that may die with no sample in flight before the run gives up."""

GRACE_SECONDS = 10.0
"""How long a worker that is done may take to end."""

_STDOUT, _STDERR = 1, 2
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def run_processes(
    job: Job, works: Iterable[Work], observer: Observer, *, workers: int, devices: Sequence[str]
) -> None:
    """Do all work in worker processes; raises the first error that ends a worker."""
    pool = _Pool(job, chunks(works, job.batch_size), observer, devices)
    try:
        pool.run(workers)
    finally:
        pool.stop()


@dataclass
class _Slot:
    """One worker process and what it has been given."""

    number: int
    process: BaseProcess
    connection: Connection
    ready: bool = False
    todo: dict[str, Work] = field(default_factory=dict)
    in_flight: tuple[str, ...] = ()


class _Pool:
    def __init__(
        self,
        job: Job,
        queue: Iterator[tuple[Work, ...]],
        observer: Observer,
        devices: Sequence[str],
    ) -> None:
        self._job = job
        self._queue = queue
        self._again: deque[tuple[Work, ...]] = deque()
        self._observer = observer
        self._devices = devices
        self._slots: list[_Slot] = []
        self._idle_deaths = 0
        self._context = multiprocessing.get_context("spawn")

    def run(self, workers: int) -> None:
        first = [group for group in (self._take() for _ in range(workers)) if group]
        for number, group in enumerate(first):
            self._start(number, group)
        while self._slots:
            for ready in wait([slot.connection for slot in self._slots]):
                slot = next(slot for slot in self._slots if slot.connection is ready)
                self._hear(slot)

    def stop(self) -> None:
        """Kill what still runs; committed sequences stay, the rest is redone next time."""
        for slot in self._slots:
            slot.process.kill()
        for slot in self._slots:
            slot.process.join()
            slot.connection.close()
        self._slots.clear()

    def _take(self) -> tuple[Work, ...] | None:
        return self._again.popleft() if self._again else next(self._queue, None)

    def _start(self, number: int, group: tuple[Work, ...]) -> None:
        device = self._devices[number % len(self._devices)]
        job = replace(self._job, runtime=replace(self._job.runtime, device=device))
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs, job))
        with _single_threaded(), _uninterrupted():
            process.start()
        theirs.close()
        slot = _Slot(number, process, ours)
        self._slots.append(slot)
        self._give(slot, group)

    def _give(self, slot: _Slot, group: tuple[Work, ...] | None) -> None:
        slot.todo = {work.sequence: work for work in group or ()}
        slot.in_flight = ()
        try:
            slot.connection.send(group)
        except OSError:
            return  # It died; the closed pipe is heard next.

    def _hear(self, slot: _Slot) -> None:
        try:
            message, content = slot.connection.recv()
        except (EOFError, OSError):
            # OSError: it died in the middle of a message.
            self._bury(slot)
            return
        match message:
            case "ready":
                slot.ready = True
            case "start":
                slot.in_flight = tuple(content)
                self._observer.started(content)
            case "closed":
                block: Block = content
                slot.todo.pop(block.sequence, None)
                self._idle_deaths = 0
                self._observer.closed(block)
            case "idle":
                self._give(slot, self._take())
            case "end":
                self._dismiss(slot)
            case "error":
                raise content

    def _dismiss(self, slot: _Slot) -> None:
        """Wait for a worker that has closed its pipe; threads of its model must not hold us."""
        self._slots.remove(slot)
        slot.connection.close()
        slot.process.join(GRACE_SECONDS)
        slot.process.kill()
        slot.process.join()

    def _bury(self, slot: _Slot) -> None:
        self._dismiss(slot)
        cause = _cause_of_death(slot.process.exitcode)
        if not slot.ready:
            raise ModelError(
                f"a worker died while it set up {self._job.model.name} ({cause})",
                hint="too little memory? fewer --workers. --workers 1 shows what the model prints; "
                'a script of your own must run rpx under `if __name__ == "__main__":`',
            )
        if not slot.in_flight:
            self._idle_deaths += 1
            if self._idle_deaths > MAX_IDLE_DEATHS:
                raise IncompleteRunError(
                    f"{self._idle_deaths} workers in a row died with no sample in flight ({cause})",
                    hint="too little memory? fewer --workers; --workers 1 shows what the model "
                    "prints. Finished work is kept: the same command resumes",
                )
        for work in slot.todo.values():
            self._again.append((_after_death(work, slot.in_flight, cause),))
        group = self._take()
        if group:
            self._start(slot.number, group)


def serve(connection: Connection, job: Job) -> None:
    """Be a worker until the parent sends None or goes away."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_interrupts()
    keep_freed_memory()
    # Standard output belongs to the parent, which may owe its reader one JSON document.
    with suppress(OSError):
        os.dup2(_STDERR, _STDOUT)
    try:
        worker = Worker(job, lambda ids: connection.send(("start", list(ids))))
        connection.send(("ready", None))
        while (group := connection.recv()) is not None:
            for block in worker.run(group):
                connection.send(("closed", block))
            connection.send(("idle", None))
        worker.close()
        connection.send(("end", None))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except BaseException as error:
        with suppress(OSError):
            connection.send(("error", last_words(error, "a worker")))


def _after_death(work: Work, in_flight: Sequence[str], cause: str) -> Work:
    """The same work, done more carefully, or without the sample that killed a worker twice."""
    mine = [record.id for record in work.records if record.id in set(in_flight)]
    if not work.suspects.issuperset(mine):
        return replace(work, suspects=work.suspects.union(mine))
    failure = Failure(
        stage="crash", error="WorkerDied", message=f"the worker died on this sample: {cause}"
    )
    return replace(work, crashed={**work.crashed, **dict.fromkeys(mine, failure)})


def _cause_of_death(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"{name}, out of memory?" if name == "SIGKILL" else name
    return f"exit code {code}"


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Workers compute with one thread each: together they would fight for the cores."""
    before: Mapping[str, Any] = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update({name: "1" for name in _ONE_THREAD if before[name] is None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back while a worker starts, which inherits that: it ends by our hand alone."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # It unblocks the signal when it starts: it must be there before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
