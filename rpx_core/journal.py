"""The journal of a run: rows and states, appended by many writers, merged by copying files.

Each writer owns two files, `<writer>.jsonl` (rows, each sequence closed by a record that commits
it) and `<writer>.bin` (states). Nothing is ever rewritten and nothing is locked, so a journal
works on network file systems and survives being killed at any byte: a sequence without its
closing record does not exist, and one whose rows, states or record are damaged is done again.
"""

from __future__ import annotations

import errno
import os
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from rpx_core.blocks import (
    MAX_LINE,
    Block,
    Closing,
    Verified,
    open_rows,
    parse_rows,
    read_writer,
    scan,
)
from rpx_core.errors import JournalError
from rpx_core.files import MEBIBYTE, open_file
from rpx_core.report import Changed, Row, Writer
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
        first = _encode(writer, "the first line of the journal")
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
            stored = row.model_copy(update={"metrics": measured})
            lines.append(_encode(stored, f"the row of {row.unit} {row.id}"))
        payload = b"".join(lines)
        failed = sum(bool(row.failures) for row in rows)
        where = (self._states_end, len(blob), zlib.crc32(blob))
        closing = Closing(id=sequence, rows=len(rows), failed=failed, states=where)
        self._states_end += self._append(self._states, bytes(blob), self._states_end)
        offset = self._rows_end
        closed = payload + closing.seal(zlib.crc32(payload)).line()
        length = self._append(self._rows, closed, offset)
        self._rows_end += length
        self._sync_now_and_then()
        return Block(self._writer.writer, offset, length, sequence, len(rows), failed)

    def tell_of_model(self, description: Mapping[str, str]) -> None:
        """Write what the model says of itself by now; the last such line counts."""
        line = _encode(Changed(model=description), "what the model says of itself")
        self._rows_end += self._append(self._rows, line, self._rows_end)

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
    run left here are not read. With a `selection`, the sample ids of the run by sequence, a
    sequence that holds others is not read either. A sample counts in one sequence only.
    """

    def __init__(
        self,
        directory: Path,
        run: str,
        selection: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self.directory = directory
        self._selection = selection
        self._files: dict[str, BinaryIO] = {}
        self._rows: dict[str, list[Row]] = {}
        self.writers: list[Writer] = []
        self.warnings: list[str] = []
        self.blocks: dict[str, Block] = {}
        for path in sorted(directory.glob("*.jsonl")):
            self._index(path, run)
        self._refuse_doubles()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()
        self._rows.clear()

    def rows(self) -> list[StoredRow]:
        """All rows of the winning blocks, in order of unit and id."""
        rows = [
            StoredRow(row, block.writer)
            for block in self.blocks.values()
            for row in self._rows[block.sequence]
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
                f"{self.directory / stored.writer}.bin: the state at byte {offset} has changed "
                "since the run was read",
                hint="run the same command again: what is damaged is done again",
            )
        return decode_state(kind, data)

    def _open(self, name: str) -> BinaryIO:
        path = self.directory / name
        file = self._files.pop(name, None) or open_file(path, source=str(path), error=JournalError)
        # A merged journal has as many writers as a cluster has workers: the last used stay open.
        self._files[name] = file
        if len(self._files) > MAX_OPEN:
            self._files.pop(next(iter(self._files))).close()
        return file

    def _index(self, path: Path, run: str) -> None:
        damages: list[str] = []
        try:
            with open_rows(self.directory, path.stem) as rows:
                writer = read_writer(rows, run)
                if isinstance(writer, str):
                    damages.append(writer)
                elif writer is not None:
                    self.writers.append(writer)
                    damages += self._read(rows, path)
        except JournalError as error:
            damages.append(f"is not read: {error.message}")
        except OSError as error:
            damages.append(f"cannot be read ({error.strerror})")
        self.warnings += [f"{path.name}: {damage}" for damage in damages[:MAX_WARNINGS]]
        if len(damages) > MAX_WARNINGS:
            self.warnings.append(f"{path.name}: and {len(damages) - MAX_WARNINGS} more such places")

    def _read(self, rows: BinaryIO, path: Path) -> Iterator[str]:
        """Take everything from a writer's file, and give what is wrong with it."""
        for found in scan(rows, path):
            if isinstance(found, Changed):
                self.writers[-1] = self.writers[-1].model_copy(update={"model": found.model})
                continue
            damage = found if isinstance(found, str) else self._take(found)
            if damage is not None:
                yield damage

    def _take(self, found: Verified) -> str | None:
        """Keep the better of two blocks of a sequence; a text says why one is not of this run."""
        block, rows = found
        if self._selection is not None:
            samples = [row.id for row in rows if row.unit.is_of_one_sample]
            if sorted(samples) != sorted(self._selection.get(block.sequence, ())):
                return f"sequence {block.sequence} holds other samples than the run; it is not read"
        best = self.blocks.get(block.sequence)
        if best is None or block.failed < best.failed:
            self.blocks[block.sequence] = block
            self._rows[block.sequence] = rows
        return None

    def _refuse_doubles(self) -> None:
        """Leave out sequences with samples that an earlier one has: none may count twice."""
        owners: dict[str, str] = {}
        for name, rows in list(self._rows.items()):
            samples = [row.id for row in rows if row.unit.is_of_one_sample]
            other = next((owners[sample] for sample in samples if sample in owners), None)
            if other is None:
                owners |= dict.fromkeys(samples, name)
                continue
            del self._rows[name]
            block = self.blocks.pop(name)
            self.warnings.append(
                f"{block.writer}.jsonl: sequence {name} holds samples of sequence {other}; "
                "it is not read"
            )


def read_rows(directory: Path, block: Block) -> list[Row]:
    """The rows of one committed sequence."""
    with open_rows(directory, block.writer) as file:
        return list(parse_rows(file, block))


def _encode(stored: Row | Writer | Changed, what: str) -> bytes:
    """One line of a journal; raises JournalError for one that could not be read again."""
    line = stored.model_dump_json(by_alias=True).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise JournalError(
            f"{what} takes {len(line) / MEBIBYTE:,.1f} MiB; at most "
            f"{MAX_LINE // MEBIBYTE} MiB are stored",
            hint="values that grow with the image belong in a metric's state, not in its outputs",
        )
    return line


def _append_only(path: Path) -> int:
    binary = getattr(os, "O_BINARY", 0)  # Windows would turn line ends into two bytes.
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | binary, 0o644)


def _full_or_unwritable(path: Path, error: OSError) -> JournalError:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return JournalError(
        f"{path}: {'the disk is full' if full else f'cannot be written ({error.strerror})'}",
        hint="make room or permission and run the same command again: finished work is kept",
    )
