"""The journal of a run: rows and states, appended by many writers, merged by copying files.

Each writer owns two files, `<writer>.jsonl` (rows, each sequence closed by a record that commits
it) and `<writer>.bin` (states). Nothing is ever rewritten and nothing is locked, so a journal
works on network file systems and survives being killed at any byte: a sequence without its
closing record does not exist, and one whose rows, states or record are damaged is done again.
"""

from __future__ import annotations

import errno
import json
import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from rpx_core.blocks import Block, parse_rows, read_writer, scan, seal
from rpx_core.errors import JournalError
from rpx_core.report import Row, Writer
from rpx_core.state import decode_state

S = TypeVar("S")

MAX_OPEN = 64
"""Files of a journal that are open for reading at a time."""

SYNC_SECONDS = 1.0
"""How much finished work a power failure may cost; a killed process costs none."""
MAX_WARNINGS = 3
"""Damages told of one file; the rest is counted."""


@dataclass(frozen=True)
class StoredRow:
    """A row, and whose state file its pointers mean."""

    row: Row
    writer: str


class JournalWriter:
    """Appends closed sequences to this process's own pair of files."""

    def __init__(
        self, directory: Path, writer: Writer, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._writer = writer
        self._clock = clock
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._rows = _append_only(directory / f"{writer.writer}.jsonl")
            self._states = _append_only(directory / f"{writer.writer}.bin")
        except OSError as error:
            raise _full_or_unwritable(directory, error) from error
        self._path = directory / f"{writer.writer}.jsonl"
        self._synced = clock()
        self._rows_end = 0
        self._states_end = 0
        first = writer.model_dump_json(by_alias=True).encode() + b"\n"
        self._rows_end += self._append(self._rows, first, self._rows_end)

    def commit(
        self, sequence: str, rows: Sequence[Row], states: Sequence[Mapping[str, bytes]]
    ) -> Block:
        """Write a finished sequence: its states, then its rows and closing record in one call.

        Raises JournalError when the disk is full, or somebody has removed the file; what was
        committed before stays intact.
        """
        if os.fstat(self._rows).st_nlink == 0:
            raise JournalError(
                f"{self._path} was removed while the run went on",
                hint="another command had --fresh? run the same command again",
            )
        blob = bytearray()
        lines: list[bytes] = []
        for row, encoded in zip(rows, states, strict=True):
            measured = dict(row.metrics)
            for label, data in encoded.items():
                pointer = (self._states_end + len(blob), len(data), zlib.crc32(data))
                measured[label] = measured[label].model_copy(update={"state": pointer})
                blob += data
            lines.append(row.model_copy(update={"metrics": measured}).model_dump_json().encode())
        payload = b"".join(line + b"\n" for line in lines)
        failed = sum(bool(row.failures) for row in rows)
        closing = {
            "kind": "sequence",
            "id": sequence,
            "rows": len(rows),
            "failed": failed,
            "states": [self._states_end, len(blob), zlib.crc32(blob)],
        }
        closing["crc"] = seal(closing, zlib.crc32(payload))
        self._states_end += self._append(self._states, bytes(blob), self._states_end)
        offset = self._rows_end
        length = self._append(self._rows, payload + json.dumps(closing).encode() + b"\n", offset)
        self._rows_end += length
        self._sync_now_and_then()
        return Block(self._writer.writer, offset, length, sequence, len(rows), failed)

    def close(self) -> None:
        """Flush both files to the disk."""
        try:
            self._sync()
        finally:
            os.close(self._states)
            os.close(self._rows)

    def _sync_now_and_then(self) -> None:
        now = self._clock()
        if now - self._synced >= SYNC_SECONDS:
            self._sync()
            self._synced = now

    def _sync(self) -> None:
        try:
            # In this order: rows must not outlive the states that they point to.
            os.fsync(self._states)
            os.fsync(self._rows)
        except OSError as error:
            raise _full_or_unwritable(self._path, error) from error

    def _append(self, descriptor: int, data: bytes, end: int) -> int:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError as error:
            # Cut the half-written block off, so that later blocks of this file stay readable.
            with suppress(OSError):
                os.ftruncate(descriptor, end)
            raise _full_or_unwritable(self._path, error) from error
        return len(data)


class Journal:
    """Everything that the writers of a run have committed, each sequence once.

    Of several closed records of a sequence the one with the fewest failed rows wins; ties go by
    writer name, then by position. `run` is the identity of the run: files that writers of another
    run left here are not read.
    """

    def __init__(self, directory: Path, run: str) -> None:
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}
        self.writers: list[Writer] = []
        self.warnings: list[str] = []
        self.blocks: dict[str, Block] = {}
        for path in sorted(directory.glob("*.jsonl")):
            self._index(path, run)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def rows(self) -> list[StoredRow]:
        """All rows of the winning blocks, in order of unit and id."""
        rows = [
            StoredRow(row, block.writer)
            for block in self.blocks.values()
            for row in parse_rows(self._open(f"{block.writer}.jsonl"), block)
        ]
        # Ids of pairs are made up; the sequence decides between equal ones.
        return sorted(
            rows, key=lambda stored: (stored.row.unit, stored.row.id, stored.row.sequence)
        )

    def state(self, stored: StoredRow, label: str, kind: type[S]) -> S | None:
        """The stored state of one metric of one row; None where it was undefined."""
        measured = stored.row.metrics.get(label)
        if measured is None or measured.state is None:
            return None
        offset, length, checksum = measured.state
        file = self._open(f"{stored.writer}.bin")
        file.seek(offset)
        data = file.read(length)
        if len(data) != length or zlib.crc32(data) != checksum:
            raise JournalError(
                f"{self._directory / stored.writer}.bin: the state at byte {offset} has changed "
                "since the run was read",
                hint="run the same command again: what is damaged is done again",
            )
        return decode_state(kind, data)

    def _open(self, name: str) -> BinaryIO:
        file = self._files.pop(name, None) or (self._directory / name).open("rb")
        # A merged journal has as many writers as a cluster has workers: the last used stay open.
        self._files[name] = file
        if len(self._files) > MAX_OPEN:
            self._files.pop(next(iter(self._files))).close()
        return file

    def _index(self, path: Path, run: str) -> None:
        damages: list[str] = []
        try:
            with path.open("rb") as rows:
                writer = read_writer(rows, run)
                if isinstance(writer, str):
                    damages.append(writer)
                elif writer is not None:
                    self.writers.append(writer)
                    for found in scan(rows, path):
                        if isinstance(found, str):
                            damages.append(found)
                        else:
                            self._take(found)
        except OSError as error:
            damages.append(f"cannot be read ({error.strerror})")
        self.warnings += [f"{path.name}: {damage}" for damage in damages[:MAX_WARNINGS]]
        if len(damages) > MAX_WARNINGS:
            self.warnings.append(f"{path.name}: and {len(damages) - MAX_WARNINGS} more such places")

    def _take(self, block: Block) -> None:
        best = self.blocks.get(block.sequence)
        if best is None or block.failed < best.failed:
            self.blocks[block.sequence] = block


def read_rows(directory: Path, block: Block) -> list[Row]:
    """The rows of one committed sequence."""
    with (directory / f"{block.writer}.jsonl").open("rb") as file:
        return list(parse_rows(file, block))


def _append_only(path: Path) -> int:
    binary = getattr(os, "O_BINARY", 0)  # Windows would turn line ends into two bytes.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | binary, 0o644)


def _full_or_unwritable(path: Path, error: OSError) -> JournalError:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return JournalError(
        f"{path}: {'the disk is full' if full else f'cannot be written ({error.strerror})'}",
        hint="make room or permission and run the same command again: finished work is kept",
    )
