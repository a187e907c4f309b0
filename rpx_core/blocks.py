"""Blocks: the closed sequences in one writer's pair of files, found again and verified.

A block is the rows of a sequence and the record that closes it; the checksum in that record
covers both, and another one covers the states. Checksums find accidents. As a run directory may
come from anyone, what a block says is checked too: whatever is not as a writer writes it counts
as damaged, and is done again.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rpx_core.errors import JournalError
from rpx_core.files import MEBIBYTE, Stamp, open_file
from rpx_core.report import Changed, Count, Row, Writer

MAX_LINE = 16 * MEBIBYTE
"""Bytes of one line of a journal."""

_ROW = b'{"kind":"row"'
_WRITER = b'{"kind":"writer"'
_CHANGED = b'{"kind":"model"'


@dataclass(frozen=True)
class Block:
    """Where one closed sequence stands in its writer's two files."""

    writer: str
    offset: int
    length: int
    sequence: str
    rows: int
    failed: int


class Closing(BaseModel):
    """The record that closes a sequence: how many rows, how many failed, and where states lie.

    `states` is an offset, a length and a checksum.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["sequence"] = "sequence"
    id: Annotated[str, Field(min_length=1)]
    rows: Annotated[int, Field(ge=1)]
    failed: Count
    states: tuple[Count, Count, Count]
    crc: Count = 0

    def seal(self, checksum: int) -> Closing:
        """The same record with the checksum of its block: that of the rows, then its own."""
        plain = json.dumps(self.model_dump(exclude={"crc"})).encode()
        return self.model_copy(update={"crc": zlib.crc32(plain, checksum)})

    def line(self) -> bytes:
        """The record as it stands in a journal."""
        return json.dumps(self.model_dump()).encode() + b"\n"


class Verified(NamedTuple):
    """A block and the rows that it holds."""

    block: Block
    rows: list[Row]


def open_rows(directory: Path, writer: str) -> BinaryIO:
    """A writer's file of rows; raises JournalError for anything but a regular file."""
    path = directory / f"{writer}.jsonl"
    return open_file(path, source=str(path), error=JournalError)


def parse_rows(file: BinaryIO, block: Block) -> Iterator[Row]:
    """The rows of one committed sequence, from its writer's file of rows."""
    for line in _lines_of(file, block):
        try:
            yield Row.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in problem["loc"])
            raise JournalError(
                f"{block.writer}.jsonl: a row of sequence {block.sequence} is not one by this "
                f"version of rpx: {place}: {problem['msg']}",
                hint="another version of rpx wrote this run; use --fresh to start again",
            ) from error


def read_stamps(file: BinaryIO, block: Block) -> Iterator[tuple[str, dict[str, Stamp]]]:
    """Each sample of one committed sequence with the files that it was read from."""
    for line in _lines_of(file, block):
        row = json.loads(line)
        if row.get("files"):
            yield row["id"], {name: Stamp(*stamp) for name, stamp in row["files"].items()}


def read_writer(file: BinaryIO, run: str) -> Writer | str | None:
    """Who wrote a file; None if it was killed before it could say; a text if it is foreign."""
    line = file.readline(MAX_LINE)
    if not line.endswith(b"\n") and line[: len(_WRITER)] == _WRITER[: len(line)]:
        return None
    try:
        writer = Writer.model_validate_json(line)
    except ValidationError:
        return "is not the journal of a run by this version of rpx; it is not read"
    if writer.run != run:
        return f"belongs to another run ({writer.run[:8] or 'unknown'}); it is not read"
    return writer


def scan(rows: BinaryIO, path: Path) -> Iterator[Verified | Changed | str]:
    """Whole blocks, what lies between them, and damage in words.

    A cut-off tail is normal and passed over.
    """
    start = position = rows.tell()
    checksum = lines = 0
    with _open_states(path) as states:
        while line := rows.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                yield f"what follows byte {position} is no journal; it is not read"
                return
            if not line.endswith(b"\n"):
                return
            position += len(line)
            if line.startswith(_ROW):
                checksum = zlib.crc32(line, checksum)
                lines += 1
                continue
            if lines == 0 and line.startswith(_CHANGED):
                yield _read_change(line, start, position)
                start = position
                continue
            yield _close(line, _Pending(path.stem, start, position, lines, checksum), rows, states)
            rows.seek(position)
            start, checksum, lines = position, 0, 0


@dataclass(frozen=True)
class _Pending:
    """Rows that the next line may close."""

    writer: str
    start: int
    end: int
    rows: int
    checksum: int


def _read_change(line: bytes, start: int, end: int) -> Changed | str:
    try:
        return Changed.model_validate_json(line)
    except ValidationError:
        return f"bytes {start} to {end} are damaged; no number depends on them"


def _close(line: bytes, pending: _Pending, rows: BinaryIO, states: BinaryIO) -> Verified | str:
    damaged = f"bytes {pending.start} to {pending.end} are damaged; their sequence is done again"
    try:
        closing = Closing.model_validate_json(line)
    except ValidationError:
        return damaged
    if closing.rows != pending.rows or closing.seal(pending.checksum).line() != line:
        return damaged
    blob = _read_states(closing, states)
    if blob is None:
        return f"the states of sequence {closing.id} are damaged or missing; it is done again"
    size = pending.end - pending.start
    block = Block(pending.writer, pending.start, size, closing.id, closing.rows, closing.failed)
    try:
        found = list(parse_rows(rows, block))
    except JournalError as error:
        return f"{error.message.partition(': ')[2]}; it is done again"
    problem = _contradiction(closing, found, blob)
    if problem is not None:
        return f"sequence {closing.id} is damaged, {problem}; it is done again"
    return Verified(block, found)


def _read_states(closing: Closing, states: BinaryIO) -> bytes | None:
    """The states of a sequence; None where they are not what its closing record says."""
    offset, length, checksum = closing.states
    if offset + length > states.seek(0, io.SEEK_END):
        return None
    states.seek(offset)
    blob = states.read(length)
    return blob if zlib.crc32(blob) == checksum else None


def _contradiction(closing: Closing, rows: list[Row], blob: bytes) -> str | None:
    """What the rows of a block say that its writer cannot have written."""
    if any(row.sequence != closing.id for row in rows):
        return "a row is of another sequence"
    if len({(row.unit, row.id) for row in rows}) < len(rows):
        return "two rows have one id"
    if sum(bool(row.failures) for row in rows) != closing.failed:
        return "its failed rows are miscounted"
    for row in rows:
        for label, measured in row.metrics.items():
            if measured.state is None:
                continue
            offset, length, checksum = measured.state
            start = offset - closing.states[0]
            inside = start >= 0 and start + length <= len(blob)
            if not inside or zlib.crc32(memoryview(blob)[start : start + length]) != checksum:
                return f"a state of {label} is not where its row says"
    return None


def _lines_of(file: BinaryIO, block: Block) -> list[bytes]:
    file.seek(block.offset)
    return file.read(block.length).split(b"\n")[: block.rows]


def _open_states(path: Path) -> BinaryIO:
    states = path.with_suffix(".bin")
    # A journal without any states may have lost an empty file on its way here.
    if not states.exists():
        return io.BytesIO()
    return open_file(states, source=states.name, error=JournalError)
