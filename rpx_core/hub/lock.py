"""One process at a time per repository: a courtesy that saves work, not what keeps data right.

What is fetched appears by an atomic rename and is the same whoever fetched it. Where the kernel
gives no lock, two processes may hold what stands for one: each then fetches into a folder of its
own (`Store.receiving`), so neither touches the bytes of the other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

HEARTBEAT_S = 5.0
STALE_S = 60.0

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Waiting:
    """How a lock is waited for."""

    poll_s: float = 0.5
    stale_s: float = STALE_S
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


@contextmanager
def hold(path: Path, tell: Tell, waiting: Waiting = Waiting()) -> Iterator[bool]:  # frozen
    """Hold the lock file at `path`; `tell` hears once that another process has it.

    Gives whether nobody else can hold it.

    The kernel releases it when its holder dies, on every system. Where the file system has no
    such locks, a file of its own stands for it, kept fresh by its holder: one that has not been
    touched for a while is what a killed process left, and is taken over.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(str(path))
    told = False
    while True:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if not told:
                tell("another process is fetching from this repository; waiting for it")
            told = True
            waiting.sleep(waiting.poll_s)
        except (NotImplementedError, OSError):
            with hold_file(path.with_suffix(".held"), tell, waiting):
                yield False
            return
        else:
            break
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def hold_file(path: Path, tell: Tell, waiting: Waiting) -> Iterator[None]:
    """The same by the existence of a file, for file systems without locks."""
    watched = _Watched(path, waiting)
    told = False
    while not _create(path):
        if watched.is_stale():
            path.unlink(missing_ok=True)
            continue
        if not told:
            tell("another process is fetching from this repository; waiting for it")
        told = True
        waiting.sleep(waiting.poll_s)
    done = Event()
    heart = Thread(target=_beat, args=(path, done), daemon=True)
    heart.start()
    try:
        yield
    finally:
        done.set()
        heart.join()
        path.unlink(missing_ok=True)


class _Watched:
    """A lock file as a waiter sees it: only by its own clock, for hosts differ in theirs."""

    def __init__(self, path: Path, waiting: Waiting) -> None:
        self._path = path
        self._waiting = waiting
        self._mark: int | None = None
        self._since = waiting.clock()

    def is_stale(self) -> bool:
        """Whether nobody has touched it for a while."""
        try:
            mark = self._path.stat().st_mtime_ns
        except FileNotFoundError:
            return False
        now = self._waiting.clock()
        if mark != self._mark:
            self._mark, self._since = mark, now
        return now - self._since > self._waiting.stale_s


def _create(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _beat(path: Path, done: Event) -> None:
    while not done.wait(HEARTBEAT_S):
        # It may have been taken over while this process was stopped.
        with suppress(FileNotFoundError):
            os.utime(path)
