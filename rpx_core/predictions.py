"""Prediction files: one per sample, named by its id, in the task's own format.

What a run saves, `rpx score` reads: other programs need only write such files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
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
    """A model whose answers are already on disk.

    With `digests`, by file name, as they were when the run was planned, a file that is not one of
    them or no longer holds the same is refused.
    """

    batch = 1

    def __init__(
        self,
        directory: Path,
        task: Task[Any, Any] | None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self._directory = directory
        self._reader = task
        self._digests = digests
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

    def digests(self) -> dict[str, str]:
        """The digest of every file in the folder by name."""
        return {name: self._files.digest(name) for name in self._names()}

    def digests_of(self, sample_ids: Iterable[str], task: Task[Any, Any]) -> dict[str, str]:
        """The digest of every file that may be read for one of the samples by name."""
        wanted = {name for sample_id in sample_ids for name in _candidates(sample_id, task)}
        return {name: self._files.digest(name) for name in self._names() if name in wanted}

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
        for name in _candidates(sample_id, task):
            if (self._directory / name).is_file():
                return task.read_prediction(self._content(name), name)
        raise ModelError(
            f"sample {sample_id}: no prediction file in {self._directory}",
            hint=f"expected {file_stem(sample_id)}{' or '.join(_endings(task))}",
        )

    def _content(self, name: str) -> bytes:
        if self._digests is None:
            return self._files.read(name)
        planned = self._digests.get(name)
        content = self._files.read(name) if planned is not None else b""
        if planned != f"sha256:{hashlib.sha256(content).hexdigest()}":
            happened = "is new" if planned is None else "has changed"
            raise ModelError(
                f"prediction file {self._directory / name} {happened} since the run began",
                hint="leave prediction files alone while they are read; run the command again",
            )
        return content


def _candidates(sample_id: str, task: Task[Any, Any]) -> list[str]:
    """The names that the file of a sample may have, the one to prefer first."""
    stems = [stem for stem in (file_stem(sample_id), sample_id) if ".." not in stem.split("/")]
    return [f"{stem}{ending}" for ending in _endings(task) for stem in stems]


def _endings(task: Task[Any, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((task.suffix, *task.suffixes)))
