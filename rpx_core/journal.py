"""The journal of a run: rows and states, appended by many writers, merged by copying files.

Each writer owns two files, `<writer>.jsonl` (rows, each sequence closed by a record that commits
it) and `<writer>.bin` (states). Nothing is ever rewritten and nothing is locked, so a journal
works on network file systems and survives being killed at any byte: a sequence without its
closing record does not exist, and one whose rows, states or record are damaged is done again.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from rpx_core.blocks import (
    Block,
    Verified,
    open_rows,
    parse_rows,
    read_writer,
    scan,
)
from rpx_core.errors import JournalError
from rpx_core.files import open_file
from rpx_core.report import Changed, Row, Writer
from rpx_core.state import decode_state

S = TypeVar("S")

MAX_OPEN = 64
"""Files of a journal that are open for reading at a time."""

MAX_WARNINGS = 3
"""Damages told of one file; the rest is counted."""


@dataclass(frozen=True)
class StoredRow:
    """A row, and whose state file its pointers mean."""

    row: Row
    writer: str


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
