"""Reading the samples of a dataset outside a run, as one task sees them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any

from rpx_core.arrangement import arrange
from rpx_core.config import Data
from rpx_core.contracts import Sample, Task
from rpx_core.datasets import select
from rpx_core.errors import ConfigError, ManifestError
from rpx_core.host import Host
from rpx_core.manifest import Entry, Manifest
from rpx_core.names import is_same_task
from rpx_core.offers import Offer
from rpx_core.parts import resolve_part
from rpx_core.records import Record, natural_key, usual_step
from rpx_core.scorer import Span
from rpx_core.specs import TaskSpec

FILE_SUFFIXES = frozenset(
    {
        *(".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".exr"),
        *(".npy", ".npz", ".pfm", ".flo", ".h5", ".ply", ".pcd", ".dat", ".bin", ".raw"),
        *(".json", ".jsonl", ".csv", ".txt", ".xml", ".yaml", ".yml", ".toml"),
    }
)
"""What tells a listed file from an inline text; another ending is first missed when it is read."""

_CHUNK = 64


@dataclass(frozen=True)
class Stretch:
    """One sequence to go through: its records in order, and their samples, loaded one by one."""

    span: Span
    samples: Iterator[Sample]


class SampleReader:
    """Reads the samples of a manifest, with ground truth, through the task's own loader.

    `data` says which of them, by split and limit, as in a run; the default is all. Raises
    ManifestError when no installed task is the one meant: `task`, or else the manifest's.
    """

    def __init__(
        self, manifest: Manifest, host: Host, task: str | None = None, data: Data | None = None
    ) -> None:
        self.manifest = manifest
        self.offer = _find_task(manifest, host, task)
        self._task: Task[Any, Any] = resolve_part(self.offer, {}, field_name="task").build()
        split = data is not None and data.split is not None
        self._sequences = select(manifest, data) if data and split else manifest.sequences()
        self._limit = data.limit if data else None

    @property
    def root(self) -> Path:
        """The folder that all files lie below."""
        return self.manifest.root

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the data, as its reports say."""
        return self.manifest.warnings

    def samples(self) -> Iterator[Sample]:
        """The samples in the order of the manifest, or by sequence if the task arranges frames."""
        return self._load(self._records())

    def stretches(self) -> Iterator[Stretch]:
        """The same samples by sequence, in natural order, as a run goes through them."""
        whole = self.manifest.sequences()
        for name, entries in self._sequences.items():
            records = self._limited(self._arrange(entries))
            if records:
                span = Span(name, records, usual_step([entry.frame for entry in whole[name]]))
                yield Stretch(span, self._load(records))

    def count_samples(self) -> int:
        """How many samples there are; raises ManifestError for a listed file that is missing.

        Nothing is opened. Files of other tasks need not be there.
        """
        keys = dict.fromkeys((*self.offer.spec.requires, *self.offer.spec.assets))
        count = 0
        for record in self._records():
            count += 1
            values = (record.rgb, record.intrinsics, record.pose, *map(record.assets.get, keys))
            for value in values:
                self._check(value, record)
        return count

    def _check(self, value: object, record: Record) -> None:
        for name in value if isinstance(value, list) else (value,):
            if isinstance(name, str) and PurePosixPath(name).suffix.lower() in FILE_SUFFIXES:
                try:
                    self.manifest.files.locate(name)
                except ManifestError as error:
                    raise ManifestError(
                        f"sample {record.id}: {error.message}", hint=error.hint
                    ) from error

    def _load(self, records: Iterable[Record]) -> Iterator[Sample]:
        files = self.manifest.files
        for record in records:
            yield self._task.load(record, files.declaring(record.checksums))

    def _records(self) -> Iterator[Record]:
        if self._rearranges:
            for entries in self._sequences.values():
                yield from self._limited(self._arrange(entries))
            return
        chosen = sorted(
            (entry for entries in self._sequences.values() for entry in entries),
            key=attrgetter("position"),
        )
        for start in range(0, len(chosen), _CHUNK):
            yield from self._limited(self.manifest.records(chosen[start : start + _CHUNK]))

    @property
    def _rearranges(self) -> bool:
        return type(self._task).arrange is not Task.arrange

    def _arrange(self, entries: Sequence[Entry]) -> Sequence[Record]:
        return arrange(self._task, self.manifest.records(entries), self.manifest.files)

    def _limited(self, records: Sequence[Record]) -> Sequence[Record]:
        if self._limit is None:
            return records
        return [record for record in records if record.id in self._first]

    @cached_property
    def _first(self) -> frozenset[str]:
        """The first samples in the order of their ids, as many as the limit says."""
        ids = [
            each.id
            for entries in self._sequences.values()
            for each in (self._arrange(entries) if self._rearranges else entries)
        ]
        return frozenset(sorted(ids, key=natural_key)[: self._limit])


def copy_samples(samples: object) -> list[Any]:
    """Records of a program as a manifest file would hold them; the caller's own stay untouched.

    Paths become strings, and numpy arrays lists. Raises ManifestError for what is no list, and
    for values that have no place in JSON.
    """
    if not isinstance(samples, Sequence) or isinstance(samples, str | bytes):
        raise ManifestError(
            f"`samples` must be a list of records, not {type(samples).__name__}",
            hint='each record is an object such as {"id": "a_clutter_0", "rgb": "a/0.png"}',
        )
    copies = []
    for number, sample in enumerate(samples):
        try:
            copies.append(json.loads(json.dumps(sample, default=_plain)))
        except (TypeError, ValueError) as error:
            raise ManifestError(
                f"sample {number}: {error}", hint="records hold what JSON can: numbers, text, lists"
            ) from error
    return copies


def resolve_root(header: Mapping[str, Any], default_root: Path | None) -> Path:
    """Where the files of a manifest in memory lie; raises ManifestError for a root outside.

    Only without a default is the manifest's own root taken wherever it leads: whoever passes a
    default says which folder may be read.
    """
    root = header.get("root", ".")
    if not isinstance(root, str):
        raise ManifestError(f"the manifest's root must be a path, not {type(root).__name__}")
    if default_root is None:
        return Path(root).resolve()
    allowed = default_root.resolve()
    inside = (allowed / root).resolve()
    if not inside.is_relative_to(allowed):
        raise ManifestError(
            f"the manifest's root {root!r} lies outside the default root {allowed}",
            hint="leave default_root out if the manifest's own root is meant",
        )
    return inside


def _plain(value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} cannot be in a manifest")


def find_task(host: Host, name: str, *, wanted_by: str) -> Offer[TaskSpec]:
    """The task of this name; raises ManifestError where none is installed."""
    try:
        offer: Offer[TaskSpec] = host.find("task", name)
    except ConfigError as error:
        raise ManifestError(f"{wanted_by}: {error.message}", hint=error.hint) from error
    return offer


def _find_task(manifest: Manifest, host: Host, task: str | None) -> Offer[TaskSpec]:
    served = manifest.header.served()
    name = task or manifest.header.task or (served[0] if len(served) == 1 else None)
    if name is None:
        raise ManifestError(
            f"{manifest.name}: it serves several tasks: {', '.join(served)}",
            hint="say which one is meant: task=...",
        )
    if not any(is_same_task(name, one) for one in served):
        raise ManifestError(
            f"{manifest.name}: it serves {', '.join(served)}, not {name}",
            hint="name one of these as task, or add this one to `tasks` in the manifest",
        )
    return find_task(host, name, wanted_by=manifest.name)
