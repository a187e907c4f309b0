"""Prediction files: one per sample, named by its id, in the task's own format.

What a run saves, `rpx score` reads: other programs need only write such files, or those that hold
many samples where the task knows such a format.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from rpx_core.contracts import Sample, Task
from rpx_core.errors import ModelError, first_few
from rpx_core.files import Files, open_file
from rpx_core.shared_files import SharedAnswers

MAX_STEM = 200
"""File systems allow 255 bytes for a name; endings and temporary names need some."""
_HEAD = 64
_KEPT_FILES = 4
"""Files of many samples that stay in memory once read."""


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
        self._shared: OrderedDict[str, SharedAnswers] = OrderedDict()
        self.task = ""

    def setup(self) -> None:
        """Nothing to load before the first sample."""

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        """The stored prediction of each sample; raises ModelError naming the missing file."""
        return [self._read(sample) for sample in batch]

    def present(self, task: Task[Any, Any]) -> dict[str, str]:
        """File name by sample stem, for every file of one sample that the task reads."""
        # The longest ending first: `a.depth.png` is of sample `a` where `.depth.png` is one.
        endings = sorted(_endings(task), key=len, reverse=True)
        found = {}
        for name in self._names():
            ending = next((ending for ending in endings if name.endswith(ending)), None)
            if ending is not None and not self._is_shared(name, task):
                found[name[: -len(ending)]] = name
        return found

    def digests(self) -> dict[str, str]:
        """The digest of every file in the folder by name."""
        return {name: self._files.digest(name) for name in self._names()}

    def digests_of(self, sample_ids: Iterable[str], task: Task[Any, Any]) -> dict[str, str]:
        """The digest of every file that may be read for one of the samples by name."""
        wanted = {name for sample_id in sample_ids for name in _candidates(sample_id, task)}
        return {name: self._files.digest(name) for name in self._names() if name in wanted}

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The files that hold the predictions of many samples."""
        task = self._reader
        return () if task is None else tuple(n for n in self._names() if self._is_shared(n, task))

    def answers(self, name: str) -> SharedAnswers:
        """What a file of many samples says; the files used last stay in memory."""
        if name not in self._shared:
            if self._reader is None or self._reader.shared is None:
                raise ModelError(f"prediction file {name}: the task reads no file of many samples")
            self._shared[name] = self._reader.shared.read(self._content(name), name)
        self._shared.move_to_end(name)
        while len(self._shared) > _KEPT_FILES:
            self._shared.popitem(last=False)
        return self._shared[name]

    def _is_shared(self, name: str, task: Task[Any, Any]) -> bool:
        if task.shared is None:
            return False
        with open_file(self._directory / name, source=name, error=ModelError) as stream:
            return task.shared.holds(name, stream.read(_HEAD))

    def _names(self) -> list[str]:
        return sorted(
            path.relative_to(self._directory).as_posix()
            for path in self._directory.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        )

    def _read(self, sample: Sample) -> Any:
        task = self._reader
        if task is None:
            raise ModelError("a folder of predictions needs its task to be read")
        found = [name for name in _candidates(sample.id, task) if self._has(name)]
        if len(found) > 1:
            raise ModelError(
                f"sample {sample.id}: {found[0]} and {found[1]} both are its prediction file",
                hint=f"leave one of the two in {self._directory}",
            )
        if found:
            return task.read_prediction(self._content(found[0]), found[0])
        if self.shared:
            return self.answers(self._choose(sample, task)).of(sample)
        raise ModelError(
            f"sample {sample.id}: no prediction file in {self._directory}",
            hint=f"expected {file_stem(sample.id)}{' or '.join(_endings(task))}",
        )

    def _has(self, name: str) -> bool:
        try:
            return (self._directory / name).is_file()
        except OSError:  # An id may be too long for a file name.
            return False

    def _choose(self, sample: Sample, task: Task[Any, Any]) -> str:
        """The file of many samples where this one is looked up: its owner's, else the only one."""
        owner = task.shared.owner(sample) if task.shared else None
        own = [name for name in self.shared if owner and _stem(name) in (owner, file_stem(owner))]
        chosen = own or self.shared
        if len(chosen) > 1:
            raise ModelError(
                f"sample {sample.id}: {first_few(list(chosen))} all hold predictions of many "
                "samples, and none is named after this one",
                hint=f"leave one file in {self._directory}, or name each by what it is of",
            )
        return chosen[0]

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
    names = (f"{stem}{ending}" for ending in _endings(task) for stem in stems)
    return list(dict.fromkeys(names))


def _stem(name: str) -> str:
    return PurePosixPath(name).with_suffix("").as_posix()


def _endings(task: Task[Any, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((task.suffix, *task.suffixes)))
