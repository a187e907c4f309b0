"""The journal: what is committed comes back, and a disk that fails costs no more than it must."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpx_core import journal_writer
from rpx_core.errors import JournalError
from rpx_core.journal import Journal, read_rows
from rpx_core.journal_writer import JournalWriter
from tests.toys.journals import RUN, Count, commit, open_writer, read, row, written


def test_committed_rows_and_states_come_back(tmp_path: Path) -> None:
    written(tmp_path, "b", "a")
    with Journal(tmp_path, RUN) as journal:
        rows = journal.rows()
        assert [stored.row.id for stored in rows] == ["a0", "a1", "b0", "b1"]
        assert [int(journal.state(stored, "m", Count).count) for stored in rows] == [0, 1, 0, 1]
        assert [w.writer for w in journal.writers] == ["w"]
        assert journal.warnings == []


def test_a_committed_block_can_be_read_on_its_own(tmp_path: Path) -> None:
    target = open_writer(tmp_path)
    commit(target, "a")
    block = commit(target, "b", failed=1)
    target.close()
    assert [found.id for found in read_rows(tmp_path, block)] == ["b0", "b1"]
    assert (block.rows, block.failed) == (2, 1)


def test_an_undefined_metric_has_no_state(tmp_path: Path) -> None:
    target = open_writer(tmp_path)
    target.commit("a", [row("a0", "a")], [{}])
    target.close()
    with Journal(tmp_path, RUN) as journal:
        (stored,) = journal.rows()
        assert journal.state(stored, "m", Count) is None
        assert journal.state(stored, "another", Count) is None


def test_no_folder_is_an_empty_journal(tmp_path: Path) -> None:
    assert read(tmp_path / "none") == ({}, [])


@pytest.mark.parametrize(
    ("failed", "winner"),
    [
        ({"a": 1, "b": 0}, "b"),
        ({"a": 0, "b": 1}, "a"),
        ({"a": 1, "b": 1}, "a"),
        ({"b": 2, "c": 1}, "c"),
    ],
)
def test_the_fewest_failures_win_then_the_writer_name(
    tmp_path: Path, failed: dict[str, int], winner: str
) -> None:
    for name, count in sorted(failed.items(), reverse=True):
        target = open_writer(tmp_path, name)
        commit(target, "s", failed=count)
        target.close()
    blocks, warnings = read(tmp_path)
    assert blocks["s"].writer == winner
    assert warnings == []


def test_of_one_writer_the_earliest_of_equal_blocks_wins(tmp_path: Path) -> None:
    target = open_writer(tmp_path)
    commit(target, "s", failed=2)
    first = commit(target, "s", failed=1)
    commit(target, "s", failed=1)
    target.close()
    assert read(tmp_path)[0] == {"s": first}


def test_two_writers_cannot_share_a_file(tmp_path: Path) -> None:
    written(tmp_path, "a")
    with pytest.raises(JournalError, match="cannot be written"):
        open_writer(tmp_path)


class FailingDisk:
    """Stands for the `os` module: writes a number of bytes, then fails as a full disk does."""

    def __init__(self, room: int, code: int = errno.ENOSPC) -> None:
        self.room = room
        self.code = code

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, data: memoryview) -> int:
        if self.room <= 0:
            raise OSError(self.code, os.strerror(self.code))
        count = os.write(descriptor, data[: self.room])
        self.room -= count
        return count


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[FailingDisk]:
    failing = FailingDisk(room=10**9)
    monkeypatch.setattr(journal_writer, "os", failing)
    return failing


def commit_until_it_fails(target: JournalWriter) -> None:
    for number in range(10):
        commit(target, f"b{number}")


@pytest.mark.parametrize("room", [0, 1, 30, 60, 100, 300, 500, 700])
def test_a_full_disk_leaves_only_whole_blocks(tmp_path: Path, disk: FailingDisk, room: int) -> None:
    target = open_writer(tmp_path)
    commit(target, "a")
    disk.room = room
    with pytest.raises(JournalError, match=r"w\.jsonl: the disk is full") as caught:
        commit_until_it_fails(target)
    assert caught.value.exit_code == 3
    disk.room = 10**9
    commit(target, "c")
    target.close()
    blocks, warnings = read(tmp_path)
    assert {"a", "c"} <= set(blocks)
    assert warnings == []


def test_a_full_disk_at_the_first_line_is_told(tmp_path: Path, disk: FailingDisk) -> None:
    disk.room = 5
    with pytest.raises(JournalError, match="the disk is full"):
        open_writer(tmp_path)
    assert read(tmp_path) == ({}, [])


def test_a_disk_that_fails_to_sync_is_told(
    tmp_path: Path, disk: FailingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    times = iter([0.0, 10.0])
    target = open_writer(tmp_path, clock=lambda: next(times))
    monkeypatch.setattr(disk, "fsync", fail, raising=False)
    with pytest.raises(JournalError, match="cannot be written"):
        commit(target, "a")
    with pytest.raises(JournalError, match="cannot be written"):
        target.close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="cannot be written"):
        open_writer(tmp_path / "file" / "journal")


def test_what_a_model_says_of_itself_later_takes_the_place_of_what_it_said(tmp_path: Path) -> None:
    target = open_writer(tmp_path)
    commit(target, "a")
    target.tell_of_model({"largest_batch": "4"})
    commit(target, "b")
    target.tell_of_model({"largest_batch": "2"})
    target.close()
    written(tmp_path, "c", name="x")
    with Journal(tmp_path, RUN) as journal:
        assert [writer.model for writer in journal.writers] == [{"largest_batch": "2"}, {}]
        assert sorted(journal.blocks) == ["a", "b", "c"]
        assert len(journal.rows()) == 6
        assert journal.warnings == []


@pytest.mark.parametrize(
    ("line", "warnings"),
    [
        (b'{"kind":"model","model":{"largest', 0),
        (b'{"kind":"model","model":7}\n', 1),
    ],
)
def test_a_damaged_word_of_the_model_costs_no_sequence(
    tmp_path: Path, line: bytes, warnings: int
) -> None:
    written(tmp_path, "a")
    with (tmp_path / "w.jsonl").open("ab") as file:
        file.write(line)
    with Journal(tmp_path, RUN) as journal:
        assert sorted(journal.blocks) == ["a"]
        assert journal.writers[0].model == {}
        assert len(journal.warnings) == warnings
