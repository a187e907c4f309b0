"""Blocks: the closed sequences in one writer's pair of files, found again and verified.

A block is the rows of a sequence and the record that closes it; the checksum in that record
covers both, and another one covers the states.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from rpx_core.errors import JournalError
from rpx_core.files import Stamp
from rpx_core.report import Row, Writer

_ROW = b'{"kind":"row"'
_WRITER = b'{"kind":"writer"'
_MAX_FIRST_LINE = 1 << 20


@dataclass(frozen=True)
class Block:
    """Where one closed sequence stands in its writer's two files."""

    writer: str
    offset: int
    length: int
    sequence: str
    rows: int
    failed: int


def parse_rows(file: BinaryIO, block: Block) -> Iterator[Row]:
    """The rows of one committed sequence, from its writer's file of rows."""
    file.seek(block.offset)
    lines = file.read(block.length).split(b"\n")
    try:
        for line in lines[: block.rows]:
            yield Row.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise JournalError(
            f"{block.writer}.jsonl: sequence {block.sequence}: {problem['loc']}: {problem['msg']}",
            hint="another version of rpx wrote this run; use --fresh to start again",
        ) from error


def read_stamps(file: BinaryIO, block: Block) -> Iterator[tuple[str, dict[str, Stamp]]]:
    """Each sample of one committed sequence with the files that it was read from."""
    file.seek(block.offset)
    for line in file.read(block.length).split(b"\n")[: block.rows]:
        row = json.loads(line)
        if row.get("files"):
            yield row["id"], {name: Stamp(*stamp) for name, stamp in row["files"].items()}


def read_writer(file: BinaryIO, run: str) -> Writer | str | None:
    """Who wrote a file; None if it was killed before it could say; a text if it is foreign."""
    line = file.readline(_MAX_FIRST_LINE)
    if not line.endswith(b"\n") and line[: len(_WRITER)] == _WRITER[: len(line)]:
        return None
    try:
        writer = Writer.model_validate_json(line)
    except ValidationError:
        return "is not the journal of a run by this version of rpx; it is not read"
    if writer.run != run:
        return f"belongs to another run ({writer.run[:8] or 'unknown'}); it is not read"
    return writer


def scan(rows: BinaryIO, path: Path) -> Iterator[Block | str]:
    """Whole blocks, and damage in words; a cut-off tail is normal and passed over."""
    start = position = rows.tell()
    checksum = lines = 0
    try:
        states: BinaryIO = path.with_suffix(".bin").open("rb")
    except FileNotFoundError:
        states = io.BytesIO()
    with states:
        for line in rows:
            if not line.endswith(b"\n"):
                return
            position += len(line)
            if line.startswith(_ROW):
                checksum = zlib.crc32(line, checksum)
                lines += 1
                continue
            yield _close(line, _Open(path.stem, start, position, lines, checksum), states)
            start, checksum, lines = position, 0, 0


@dataclass(frozen=True)
class _Open:
    """Rows that the next line may close."""

    writer: str
    start: int
    end: int
    rows: int
    checksum: int


def _close(line: bytes, pending: _Open, states: BinaryIO) -> Block | str:
    damaged = f"bytes {pending.start} to {pending.end} are damaged; their sequence is done again"
    try:
        record = json.loads(line)
        checksum = record.pop("crc")
        if record["rows"] != pending.rows or seal(record, pending.checksum) != checksum:
            return damaged
        offset, length, states_checksum = record["states"]
        states.seek(offset)
        if zlib.crc32(states.read(length)) != states_checksum:
            return f"the states of sequence {record['id']} are damaged or missing; it is done again"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return damaged
    size = pending.end - pending.start
    return Block(pending.writer, pending.start, size, record["id"], pending.rows, record["failed"])


def seal(record: Mapping[str, object], checksum: int) -> int:
    """The checksum of a block: its rows, then its own record."""
    return zlib.crc32(json.dumps(record).encode(), checksum)
