"""Manifests: the list of records that is a dataset, from a JSON or JSON-lines file or a program.

A JSON-lines manifest is streamed: only ids and byte offsets stay in memory. The `dataset_id` is
a digest of the records, whatever their order in the file and wherever the file lies.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rpx_core.documents import read_json, read_json_lines
from rpx_core.errors import ConfigError, ManifestError
from rpx_core.files import Files, open_file
from rpx_core.manifest_header import Header, read_header, root_folder
from rpx_core.record_digest import record_digest
from rpx_core.records import WELL_KNOWN_ASSETS, Record, natural_key, parse_record

LINES_SUFFIXES = frozenset({".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True)
class Entry:
    """What stays in memory of one record: its place in the file, its id, sequence and tier."""

    position: int
    id: str
    sequence: str
    frame: int
    difficulty: str | None


@dataclass(frozen=True)
class Source:
    """Where records and their files come from.

    `records` are the raw records of a small manifest, or the path of a streamed one. Files lie
    below `root`; links may also lead to `also` (the blobs of a hub cache). `known` are the keys
    that a record may have. `checksums` by name are those that the records do not declare
    themselves; they are verified on reading and are no part of what the dataset is.
    """

    records: Sequence[object] | Path
    root: Path
    known: frozenset[str] = frozenset()
    also: tuple[Path, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """An opened dataset: records grouped into sequences, all inside one root folder."""

    name: str
    header: Header
    entries: tuple[Entry, ...]
    dataset_id: str
    source: Source
    warnings: tuple[str, ...] = field(default=())
    origin: Mapping[str, str] = field(default_factory=dict)
    """Where it was fetched from, by repository and commit; empty for local data."""
    partial: tuple[str, ...] = ()
    """Why it is not the whole of its dataset."""

    @property
    def root(self) -> Path:
        """The folder that all files lie below."""
        return self.source.root

    @property
    def files(self) -> Files:
        """The files of the dataset, read safely."""
        return Files(self.source.root, self.source.also, self.source.checksums)

    def with_origin(
        self, origin: Mapping[str, str], *, partial: Sequence[str], warnings: Sequence[str]
    ) -> Manifest:
        """The same, fetched from somewhere; with further warnings."""
        return replace(
            self,
            origin=dict(origin),
            partial=tuple(partial),
            warnings=(*self.warnings, *warnings),
        )

    def sequences(self) -> dict[str, list[Entry]]:
        """Entries by sequence, both in natural order."""
        groups: dict[str, list[Entry]] = {}
        for entry in self.entries:
            groups.setdefault(entry.sequence, []).append(entry)
        for frames in groups.values():
            frames.sort(key=lambda entry: (entry.frame, natural_key(entry.id)))
        return dict(sorted(groups.items(), key=lambda item: natural_key(item[0])))

    def records(self, entries: Sequence[Entry]) -> list[Record]:
        """The records of these entries, read again from the source."""
        return [
            self._parse(raw, entry) for raw, entry in zip(self.raw(entries), entries, strict=True)
        ]

    def raw(self, entries: Sequence[Entry]) -> Iterator[object]:
        """The entries as they stand in the source."""
        records = self.source.records
        if not isinstance(records, Path):
            # Copies: what a task does to its record must not reach the next reader.
            yield from (deepcopy(records[entry.position]) for entry in entries)
            return
        with open_file(records, source=str(records)) as file:
            for entry in entries:
                file.seek(entry.position)
                yield read_json(file.readline(), source=f"{records}: byte {entry.position}")

    def _parse(self, raw: object, entry: Entry) -> Record:
        where = f"{self.name}: record {entry.id!r}"
        record = parse_record(
            raw, where=where, defaults=self.header.inherited(), known=self.source.known
        )
        if record.id != entry.id:
            raise ManifestError(
                f"{where} is now {record.id!r}: the manifest has changed since it was opened",
                hint="wait until it is complete, then run the command again",
            )
        return record


def read_manifest(path: Path, *, known: Collection[str] = (), root: Path | None = None) -> Manifest:
    """Open a manifest file; raises ManifestError naming the entry and the key that is wrong.

    `root` replaces the manifest's own; without it, files must lie below the manifest's folder:
    a manifest cannot widen its root. `known` are asset keys beside the well-known ones.
    """
    if not os.path.isfile(path):
        raise ManifestError(
            f"{path}: no such manifest",
            hint="`rpx data index LAYOUT ROOT` writes one; `rpx list datasets` shows what is there",
        )
    if path.suffix in LINES_SUFFIXES:
        lines = read_json_lines(path)
        _, first = next(lines, (0, None))
        header = read_header(first, path)
        place = root_folder(path, header, root)
        return _index(path.name, header, lines, Source(path, place, frozenset(known)))
    document = read_json(path)
    if not isinstance(document, dict):
        raise ManifestError(f"{path}: an object with `task` and `samples` was expected")
    samples = document.pop("samples", None)
    if not isinstance(samples, list):
        raise ManifestError(f"{path}: `samples` must be a list of records")
    header = read_header(document, path)
    source = Source(samples, root_folder(path, header, root), frozenset(known))
    return _index(path.name, header, enumerate(samples), source)


def build_manifest(
    header: Mapping[str, Any],
    samples: Sequence[Mapping[str, Any]],
    *,
    root: Path,
    known: Collection[str] = (),
) -> Manifest:
    """The same from a header and records in memory, with their files below `root`."""
    parsed = read_header(dict(header), root)
    source = Source(samples, root.resolve(), frozenset(known))
    return _index("manifest", parsed, enumerate(samples), source)


def manifest_document(manifest: Manifest, *, beside: Path) -> dict[str, Any]:
    """The manifest as one JSON document to write at `beside`; its root is relative to that.

    Raises ConfigError when the data does not lie below that folder: such a manifest would need
    its root on every command.
    """
    header = manifest.header.model_dump(by_alias=True, exclude_defaults=True, mode="json")
    folder = beside.parent.resolve()
    if not manifest.root.is_relative_to(folder):
        raise ConfigError(
            f"{beside}: the data lies in {manifest.root}, not below the manifest's folder",
            hint=f"write it there: -o {manifest.root / 'manifest.json'}",
        )
    return {
        "schema": "rpx-manifest-1",
        "name": manifest.name,
        **header,
        "root": manifest.root.relative_to(folder).as_posix(),
        "samples": list(manifest.raw(manifest.entries)),
    }


def _index(
    file: str, header: Header, samples: Iterable[tuple[int, object]], source: Source
) -> Manifest:
    """Read every record once: check it, note where it is, and take its digest."""
    source = replace(source, known=WELL_KNOWN_ASSETS | source.known)
    defaults = header.inherited()
    digests: list[tuple[str, bytes]] = []
    entries: list[Entry] = []
    for number, (position, raw) in enumerate(samples):
        where = f"{file}: sample {number}"
        record = parse_record(raw, where=where, defaults=defaults, known=source.known)
        digests.append((record.id, record_digest(record, source.root)))
        # Interned: thousands of frames share the name of their sequence.
        sequence = sys.intern(record.sequence)
        entries.append(Entry(position, record.id, sequence, record.frame, record.difficulty))
    _check_duplicates(file, entries)
    digest = hashlib.sha256()
    for _, part in sorted(digests):
        digest.update(part)
    return Manifest(
        name=header.name or Path(file).stem,
        header=header,
        entries=tuple(entries),
        dataset_id=f"sha256:{digest.hexdigest()}",
        source=source,
        warnings=_case_collisions(entries),
    )


def _check_duplicates(file: str, entries: Sequence[Entry]) -> None:
    first: dict[str, int] = {}
    for number, entry in enumerate(entries):
        if entry.id in first:
            raise ManifestError(
                f"{file}: duplicate id {entry.id!r} (samples {first[entry.id]} and {number})",
                hint="ids are keys: make them unique",
            )
        first[entry.id] = number


def _case_collisions(entries: Sequence[Entry]) -> tuple[str, ...]:
    folded: dict[str, str] = {}
    found = []
    for entry in entries:
        other = folded.setdefault(entry.id.casefold(), entry.id)
        if other != entry.id:
            found.append(f"{other!r} and {entry.id!r}")
    if not found:
        return ()
    shown = "; ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
    return (f"ids that differ in case alone collide on some file systems: {shown}",)
