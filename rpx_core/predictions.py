"""Prediction files: one per sample, named by its id, in the task's own format.

What a run saves, `rpx score` reads: other programs need only write such files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rpx_core.contracts import Sample, Task
from rpx_core.errors import ModelError
from rpx_core.files import Files


def file_stem(sample_id: str) -> str:
    """The file name of a sample without its ending: the id, unsafe characters percent-encoded.

    Case survives; a leading dot is encoded, so no name is hidden or climbs.
    """
    stem = quote(sample_id, safe=" ()[]{}@+,=~#!$&';^")
    return f"%2E{stem[1:]}" if stem.startswith(".") else stem


class PredictionFolder:
    """A model whose answers are already on disk."""

    batch = 1

    def __init__(self, directory: Path, task: Task[Any, Any] | None) -> None:
        self._directory = directory
        self._reader = task
        self._files = Files(directory)
        self.task = ""

    def setup(self) -> None:
        """Nothing to load before the first sample."""

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        """The stored prediction of each sample; raises ModelError naming the missing file."""
        return [self._read(sample.id) for sample in batch]

    def present(self, task: Task[Any, Any]) -> dict[str, str]:
        """File name by sample stem, for every file with an ending that the task reads."""
        endings = _endings(task)
        return {
            name[: -len(ending)]: name
            for name in self._names()
            for ending in endings
            if name.endswith(ending)
        }

    def digest(self) -> str:
        """A digest of the names and contents of all files in the folder."""
        total = hashlib.sha256()
        for name in self._names():
            total.update(name.encode("utf-8", "surrogateescape") + b"\0")
            total.update(self._files.digest(name).encode())
        return f"sha256:{total.hexdigest()}"

    def _names(self) -> list[str]:
        return sorted(
            path.relative_to(self._directory).as_posix()
            for path in self._directory.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        )

    def _read(self, sample_id: str) -> Any:
        task = self._reader
        if task is None:
            raise ModelError("a folder of predictions needs its task to be read")
        for ending in _endings(task):
            for stem in (file_stem(sample_id), sample_id):
                name = f"{stem}{ending}"
                if ".." not in stem and (self._directory / name).is_file():
                    return task.read_prediction(self._files.read(name), name)
        raise ModelError(
            f"sample {sample_id}: no prediction file in {self._directory}",
            hint=f"expected {file_stem(sample_id)}{' or '.join(_endings(task))}",
        )


def _endings(task: Task[Any, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((task.suffix, *task.suffixes)))
