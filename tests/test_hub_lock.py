"""Locks on every file system; what killed processes leave is taken over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock
import pytest

from rpx_core.hub import lock
from rpx_core.hub.lock import Waiting, hold, hold_file


class Time:
    """A clock that moves when somebody sleeps; what happens meanwhile is given."""

    def __init__(self) -> None:
        self.now = 0.0
        self.meanwhile: Any = None

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.meanwhile is not None:
            self.meanwhile(self.now)

    def waiting(self) -> Waiting:
        return Waiting(poll_s=10.0, stale_s=60.0, sleep=self.sleep, clock=lambda: self.now)


def test_a_second_holder_waits_and_is_told_why(tmp_path: Path) -> None:
    path, time, told = tmp_path / "lock", Time(), list[str]()
    first = filelock.FileLock(str(path))
    first.acquire()
    time.meanwhile = lambda now: first.release() if now >= 30 else None
    with hold(path, told.append, time.waiting()):
        assert time.now == 30
    assert len(told) == 1


def test_the_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), hold(tmp_path / "lock", print):
        raise KeyError
    with hold(tmp_path / "lock", pytest.fail):
        pass


def test_a_file_stands_for_the_lock_where_the_file_system_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with hold(tmp_path / "lock", pytest.fail):
        assert (tmp_path / "lock.held").exists()
    assert not (tmp_path / "lock.held").exists()


def test_a_file_that_is_kept_fresh_is_waited_for(tmp_path: Path) -> None:
    path, time = tmp_path / "held", Time()
    path.touch()

    def beat(now: float) -> None:
        if now < 500:
            os.utime(path, ns=(int(now), int(now)))
        else:
            path.unlink(missing_ok=True)

    time.meanwhile = beat
    with hold_file(path, lambda _: None, time.waiting()):
        assert time.now == 500


def test_a_file_that_a_killed_process_left_is_taken_over(tmp_path: Path) -> None:
    path, time = tmp_path / "held", Time()
    path.touch()
    with hold_file(path, lambda _: None, time.waiting()):
        assert 60 < time.now <= 80
    assert not path.exists()


def test_the_holder_keeps_its_file_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "held"
    beats = wait_for_beats(path, monkeypatch)
    with hold_file(path, print, Waiting()):
        first = next(beats)
        assert next(beats) > first


def wait_for_beats(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The times that the file is touched at, as soon as it is."""
    monkeypatch.setattr(lock, "HEARTBEAT_S", 0.001)
    seen = 0
    while True:
        while not path.exists() or path.stat().st_mtime_ns == seen:
            pass
        seen = path.stat().st_mtime_ns
        yield seen
