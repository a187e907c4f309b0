"""Journals of made-up sequences, written and read."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpx_core.blocks import Block
from rpx_core.contracts import Unit
from rpx_core.journal import Journal
from rpx_core.journal_writer import JournalWriter
from rpx_core.report import Failure, Measured, Row, Writer
from rpx_core.state import Sum, encode_state

RUN = "0123456789abcdef"


@dataclass(frozen=True)
class Count:
    count: Sum


def make_writer(name: str = "w", run: str = RUN) -> Writer:
    return Writer(
        run=run, writer=name, started="2024-01-01", host="h", device="cpu", versions={"python": "3"}
    )


def open_writer(folder: Path, name: str = "w", run: str = RUN, **clock: Any) -> JournalWriter:
    return JournalWriter(folder, make_writer(name, run), **clock)


def row(name: str, sequence: str = "s", *, failed: bool = False) -> Row:
    failure = Failure(stage="predict", error="E", message="m") if failed else None
    return Row(
        unit=Unit.SAMPLE,
        id=name,
        sequence=sequence,
        metrics={} if failed else {"m": Measured(values={"v": 1.0})},
        failure=failure,
    )


def commit(target: JournalWriter, sequence: str, count: int = 2, *, failed: int = 0) -> Block:
    rows = [row(f"{sequence}{i}", sequence, failed=i < failed) for i in range(count)]
    states = [{} if r.failure else {"m": encode_state(Count(i))} for i, r in enumerate(rows)]
    return target.commit(sequence, rows, states)


def written(folder: Path, *sequences: str, name: str = "w", run: str = RUN) -> None:
    target = open_writer(folder, name, run)
    for sequence in sequences:
        commit(target, sequence)
    target.close()


def read(folder: Path, run: str = RUN) -> tuple[dict[str, Block], list[str]]:
    with Journal(folder, run) as journal:
        for stored in journal.rows():
            journal.state(stored, "m", Count)
        return dict(journal.blocks), list(journal.warnings)


def ends(jsonl: bytes) -> list[int]:
    """Where the header and each block end."""
    found, position = [], 0
    for line in jsonl.splitlines(keepends=True):
        position += len(line)
        if not line.startswith(b'{"kind":"row"'):
            found.append(position)
    return found


Change = Callable[[dict[str, Any]], None]


def forge(path: Path, *, row: Change | None = None, closing: Change | None = None) -> None:
    """Change the first row and the closing record of a journal of one sequence; checksums fit."""
    header, *rows, last = path.read_bytes().splitlines(keepends=True)
    if row is not None:
        first = json.loads(rows[0])
        row(first)
        rows[0] = json.dumps(first, separators=(",", ":")).encode() + b"\n"
    record = json.loads(last)
    del record["crc"]
    if closing is not None:
        closing(record)
    record["crc"] = zlib.crc32(json.dumps(record).encode(), zlib.crc32(b"".join(rows)))
    path.write_bytes(header + b"".join(rows) + json.dumps(record).encode() + b"\n")
