"""The journal of a run: rows and states, appended by many writers, merged by copying files.

Each writer owns two files, `<writer>.jsonl` (rows, each sequence closed by a record that commits
it) and `<writer>.bin` (states). Nothing is ever rewritten and nothing is locked, so a journal
works on network file systems and survives being killed at any byte: a sequence without its
closing record does not exist.
"""

from __future__ import annotations

import errno
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import ValidationError

from rpx_core.errors import JournalError
from rpx_core.report import Row, Writer
from rpx_core.state import decode_state

S = TypeVar("S")

SYNC_SECONDS = 1.0
"""How much finished work a power failure may cost; a killed process costs none."""


@dataclass(frozen=True)
class Block:
    """Where one closed sequence stands in its writer's file."""

    writer: str
    offset: int
    length: int
    sequence: str
    rows: int
    failed: int
    states_end: int
    """The state file must be at least this long for the rows' pointers to hold."""


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

        Raises JournalError when the disk is full; what was committed before stays intact.
        """
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
        failed = sum(row.failure is not None for row in rows)
        closing = json.dumps(
            {
                "kind": "sequence",
                "id": sequence,
                "rows": len(rows),
                "failed": failed,
                "crc": zlib.crc32(payload),
                "states_end": self._states_end + len(blob),
            }
        ).encode()
        self._states_end += self._append(self._states, bytes(blob), self._states_end)
        offset = self._rows_end
        length = self._append(self._rows, payload + closing + b"\n", offset)
        self._rows_end += length
        self._sync_now_and_then()
        return Block(
            self._writer.writer, offset, length, sequence, len(rows), failed, self._states_end
        )

    def close(self) -> None:
        """Flush both files to the disk."""
        for descriptor in (self._states, self._rows):
            os.fsync(descriptor)
            os.close(descriptor)

    def _sync_now_and_then(self) -> None:
        now = self._clock()
        if now - self._synced >= SYNC_SECONDS:
            os.fsync(self._states)
            os.fsync(self._rows)
            self._synced = now

    def _append(self, descriptor: int, data: bytes, end: int) -> int:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError as error:
            # Cut the half-written block off, so that later blocks of this file stay readable.
            os.ftruncate(descriptor, end)
            raise _full_or_unwritable(self._path, error) from error
        return len(data)


class Journal:
    """Everything that the writers of a run have committed, each sequence once.

    Of several closed records of a sequence the one with the fewest failed rows wins; ties go by
    writer name, then by position.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}
        self.writers: list[Writer] = []
        self.warnings: list[str] = []
        self.blocks: dict[str, Block] = {}
        for path in sorted(directory.glob("*.jsonl")):
            self._index(path)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def rows(self) -> list[StoredRow]:
        """All rows of the winning blocks, in order of unit and id."""
        rows = [row for block in self.blocks.values() for row in self.read_block(block)]
        return sorted(rows, key=lambda stored: (stored.row.unit, stored.row.id))

    def read_block(self, block: Block) -> Iterator[StoredRow]:
        """The rows of one committed sequence."""
        file = self._open(f"{block.writer}.jsonl")
        file.seek(block.offset)
        lines = file.read(block.length).split(b"\n")
        try:
            for line in lines[: block.rows]:
                yield StoredRow(Row.model_validate_json(line), block.writer)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            raise JournalError(
                f"{block.writer}.jsonl: sequence {block.sequence}: {problem['loc']}: "
                f"{problem['msg']}",
                hint="another version of rpx wrote this run; use --fresh to start again",
            ) from error

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
                f"{self._directory / stored.writer}.bin: the state at byte {offset} is damaged",
                hint="remove this writer's two files; the same command then redoes its sequences",
            )
        return decode_state(kind, data)

    def _open(self, name: str) -> BinaryIO:
        if name not in self._files:
            self._files[name] = (self._directory / name).open("rb")
        return self._files[name]

    def _index(self, path: Path) -> None:
        states = path.with_suffix(".bin")
        size = states.stat().st_size if states.exists() else 0
        for record in _scan(path):
            match record:
                case Writer():
                    self.writers.append(record)
                case str():
                    self.warnings.append(f"{path.name}: {record}; its sequence will be redone")
                case Block() if record.states_end > size:
                    self.warnings.append(
                        f"{states.name} is shorter than its rows say; sequence "
                        f"{record.sequence} will be redone"
                    )
                case Block():
                    best = self.blocks.get(record.sequence)
                    if best is None or record.failed < best.failed:
                        self.blocks[record.sequence] = record


def _scan(path: Path) -> Iterator[Writer | Block | str]:
    """Writers, blocks, and damage in words; a cut-off tail is normal and passed over."""
    start = position = checksum = lines = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            position += len(line)
            if line.startswith(b'{"kind":"row"'):
                checksum = zlib.crc32(line, checksum)
                lines += 1
                continue
            yield _close(line, Block(path.stem, start, position - start, "", lines, 0, 0), checksum)
            start, checksum, lines = position, 0, 0


def _close(line: bytes, open_block: Block, checksum: int) -> Writer | Block | str:
    end = open_block.offset + open_block.length
    try:
        record = json.loads(line)
        if record["kind"] == "writer":
            return Writer.model_validate(record)
        if record["rows"] != open_block.rows or record["crc"] != checksum:
            return f"the rows before byte {end} do not match their closing record"
        return replace(
            open_block,
            sequence=str(record["id"]),
            failed=int(record["failed"]),
            states_end=int(record["states_end"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"the line that ends at byte {end} is not a record"


def _append_only(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)


def _full_or_unwritable(path: Path, error: OSError) -> JournalError:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return JournalError(
        f"{path}: {'the disk is full' if full else f'cannot be written ({error.strerror})'}",
        hint="make room or permission and run the same command again: finished work is kept",
    )
