"""A full disk ends a run with the path and what to do; what was finished is kept and goes on."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpx_core import atomic, journal_writer
from rpx_core.errors import ExitCode, JournalError
from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
from tests.toys.bench import Bench, facts
from tests.toys.lab import Lab, read_report, toy_samples


class FullDisk:
    """Stands for the `os` module: some files find no room."""

    def __init__(self) -> None:
        self.full: str | None = None
        self.room: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def replace(self, source: Path, target: Path) -> None:
        if self.full is not None and self.full in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.replace(source, target)

    def write(self, descriptor: int, data: memoryview) -> int:
        if self.room is None:
            return os.write(descriptor, data)
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = os.write(descriptor, data[: self.room])
        self.room -= count
        return count


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    stand_in = FullDisk()
    monkeypatch.setattr(atomic, "os", stand_in)
    monkeypatch.setattr(journal_writer, "os", stand_in)
    return stand_in


EVERYTHING = Request(reporters=DEFAULT_REPORTERS)
LAYER: dict[str, Any] = {"execution": {"save_predictions": True, "previews": 6}}


@pytest.mark.parametrize(
    "full",
    ["predictions/scene1_clutter_2", "previews/", "report/result.json", "report/", "run.json"],
)
def test_no_room_for_a_file_ends_the_run_and_the_next_one_goes_on(
    bench: Bench, disk: FullDisk, full: str
) -> None:
    whole = facts(bench.run(EVERYTHING, runs="whole", **LAYER).report)
    disk.full = full
    with pytest.raises(JournalError, match="No space left on device") as caught:
        bench.run(EVERYTHING, **LAYER)
    assert caught.value.exit_code == ExitCode.INCOMPLETE
    assert full.partition("/")[0] in caught.value.message
    assert caught.value.hint is not None
    assert "run the same command again" in caught.value.hint
    directory = bench.plan(**LAYER).directory
    assert list(directory.rglob("*.tmp")) == []
    disk.full = None
    assert facts(bench.run(EVERYTHING, **LAYER).report) == whole


def test_a_report_that_finds_no_room_leaves_the_old_one(bench: Bench, disk: FullDisk) -> None:
    outcome = bench.run(EVERYTHING)
    before = {path.name: path.read_bytes() for path in (outcome.directory / "report").iterdir()}
    disk.full = "report/"
    with pytest.raises(JournalError):
        bench.run(EVERYTHING)
    after = {path.name: path.read_bytes() for path in (outcome.directory / "report").iterdir()}
    assert after == before


@pytest.mark.parametrize("room", range(0, 30_000, 1_500))
def test_no_room_in_the_journal_costs_the_sequence_at_hand(
    bench: Bench, disk: FullDisk, room: int
) -> None:
    whole = facts(bench.run(runs="whole").report)
    disk.room = room
    with pytest.raises(JournalError, match="the disk is full") as caught:
        bench.run()
    assert "journal" in caught.value.message
    assert caught.value.exit_code == ExitCode.INCOMPLETE
    disk.room = None
    report = bench.run().report
    assert facts(report) == whole


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 128 kB, where the system lets us have one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)]
    try:
        made = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        made = False
    if not made:
        pytest.skip("a small disk needs the right to mount one")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_on_a_real_disk_that_fills_up(lab: Lab, small_disk: Path, workers: str) -> None:
    lab.write_manifest(toy_samples(scenes=8))
    target = ("--output", str(small_disk), "--workers", workers)
    ran = lab.rpx(*target)
    assert ran.returncode == 3, ran.stderr
    assert "Traceback" not in ran.stderr
    assert str(small_disk) in ran.stderr
    assert "disk is full" in ran.stderr or "No space left on device" in ran.stderr
    subprocess.run(["mount", "-o", "remount,size=16M", str(small_disk)], check=True)
    again = lab.rpx(*target)
    assert again.returncode == 0, again.stderr
    whole = lab.rpx()
    assert whole.returncode == 0
    (directory,) = small_disk.iterdir()
    found = read_report(directory)
    assert found["numbers"] == lab.report()["numbers"]
    assert found["status"]["complete"] is True
