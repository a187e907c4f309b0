"""Writing to the journal of a run: closed sequences, appended to a pair of files."""

from __future__ import annotations

import errno
import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rpx_core.blocks import MAX_LINE, Block, Closing
from rpx_core.errors import JournalError
from rpx_core.files import MEBIBYTE
from rpx_core.report import Changed, Row, Writer

SYNC_SECONDS = 1.0
"""How much finished work a power failure may cost; a killed process costs none."""


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
