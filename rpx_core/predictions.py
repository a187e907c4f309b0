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

MAX_STEM = 200
"""File systems allow 255 bytes for a name; endings and temporary names need some."""


def file_stem(sample_id: str) -> str:
    """The file name of a sample without its ending: the id, unsafe characters percent-encoded.

    Case survives; a leading dot is encoded, so no name is hidden or climbs. What is too long for
    a file name is cut and ends with a digest of the whole.
    """
    stem = quote(sample_id, safe=" ()[]{}@+,=~#!$&';^")
    stem = f"%2E{stem[1:]}" if stem.startswith(".") else stem
    if len(stem) <= MAX_STEM:
        return stem
    digest = hashlib.sha256(sample_id.encode()).hexdigest()[:16]
    return f"{stem[: MAX_STEM - 17]}-{digest}"


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
        # The longest ending first: `a.depth.png` is of sample `a` where `.depth.png` is one.
        endings = sorted(_endings(task), key=len, reverse=True)
        found = {}
        for name in self._names():
            ending = next((ending for ending in endings if name.endswith(ending)), None)
            if ending is not None:
                found[name[: -len(ending)]] = name
        return found

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
                if ".." not in stem.split("/") and (self._directory / name).is_file():
                    return task.read_prediction(self._files.read(name), name)
        raise ModelError(
            f"sample {sample_id}: no prediction file in {self._directory}",
            hint=f"expected {file_stem(sample_id)}{' or '.join(_endings(task))}",
        )


def _endings(task: Task[Any, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((task.suffix, *task.suffixes)))
