"""Datasets of a few hand-made records, which tasks read as a run does."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from rpx_core.contracts import Sample, Task
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import Manifest, build_manifest
from rpx_core.records import Record


class DatasetFolder:
    """Records and their files below `root`, and a task's reading of them.

    `header` is that of the manifest; `known` are the keys that only the plugin knows.
    """

    def __init__(self, root: Path, *, known: Collection[str] = (), **header: Any) -> None:
        self.root = root
        self.header = header
        self.records: list[dict[str, Any]] = []
        self._known = frozenset(known)

    def write(self, name: str, content: bytes) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return name

    def write_json(self, name: str, content: Any) -> str:
        return self.write(name, json.dumps(content).encode())

    def write_rgb(self, name: str, shape: tuple[int, int], level: int = 90) -> str:
        return self.write(name, encode_png(np.full((*shape, 3), level, np.uint8)))

    def add(self, **keys: Any) -> dict[str, Any]:
        """A record; a key that is None is left out."""
        record = {key: value for key, value in keys.items() if value is not None}
        self.records.append(record)
        return record

    def arrange(self, task: Task[Any, Any]) -> list[Record]:
        """The samples' records, sequence by sequence."""
        manifest = self._manifest()
        return [
            record
            for entries in manifest.sequences().values()
            for record in task.arrange(manifest.records(entries), manifest.files)
        ]

    def load_all(self, task: Task[Any, Any]) -> list[Sample]:
        return [task.load(record, Files(self.root)) for record in self.arrange(task)]

    def load_only(self, task: Task[Any, Any]) -> Sample:
        (sample,) = self.load_all(task)
        return sample

    def _manifest(self) -> Manifest:
        return build_manifest(self.header, self.records, root=self.root, known=self._known)


class RecordFolder(DatasetFolder):
    """A dataset of one record, whose `keys` tests fill."""

    def __init__(self, root: Path, *, known: Collection[str] = (), **header: Any) -> None:
        super().__init__(root, known=known, **header)
        self.keys = self.add(id="scene1_clutter_00007", scene="scene1", phase=0)

    def put(self, key: str, name: str, content: bytes) -> None:
        self.keys[key] = self.write(name, content)

    def put_json(self, key: str, content: Any) -> None:
        self.keys[key] = self.write_json(f"{key}.json", content)

    def put_rgb(self, shape: tuple[int, int] = (2, 3), key: str = "rgb") -> None:
        self.keys[key] = self.write_rgb(f"{key}.png", shape)
