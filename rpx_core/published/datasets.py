"""The published dataset: the samples of a manifest or of a program, in lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, cast

from rpx_core.config import build_config
from rpx_core.contracts import Sample, TaskType
from rpx_core.datasets import known_assets, open_dataset
from rpx_core.errors import ConfigError, ManifestError, kind_of
from rpx_core.files import expand_home
from rpx_core.host import Host
from rpx_core.manifest import build_manifest, read_manifest
from rpx_core.sample_list import SampleList
from rpx_core.samples import SampleReader, Stretch, copy_samples, resolve_root


class RPXDataset:
    """The samples of a manifest, loaded with their ground truth, in lists of `batch_size`.

    `samples` are the records of a manifest, their files below `root`, or ready `Sample` objects,
    which are kept in memory; what a task gives to models beside the image is then filled in from
    their ground truth and metadata, unless they have a `query`.

    Samples come in the order of the manifest, or by sequence for a task that arranges frames; the
    last list may be short. `len()` counts samples. Nothing that is loaded is kept, and what is
    done to a sample does not reach the manifest: every iteration gives the same. Raises
    ManifestError for whatever is wrong with the manifest, a listed file that is missing included.
    """

    def __init__(
        self,
        samples: Sequence[Mapping[str, Any]] | Sequence[Sample],
        task: TaskType | str,
        root: str | Path = ".",
        batch_size: int = 1,
    ) -> None:
        host = Host.discover()
        if _are_ready(samples):
            ready = SampleList(cast(Sequence[Sample], samples), host, str(task), Path(root))
            self._open(ready, batch_size)
            return
        manifest = build_manifest(
            {"task": str(task)}, copy_samples(samples), root=Path(root), known=known_assets(host)
        )
        self._open(SampleReader(manifest, host), batch_size)

    @classmethod
    def from_manifest(
        cls, path: str | Path, batch_size: int = 1, *, task: TaskType | str | None = None
    ) -> RPXDataset:
        """The dataset of a manifest file, whose root lies in the file's folder.

        `task` chooses among those of a manifest that serves several.
        """
        if not isinstance(path, str | PathLike):
            raise ManifestError(
                f"the path of a manifest is {kind_of(path)}; a text or path was expected",
                hint="RPXDataset.from_dict(manifest) takes one that is in memory",
            )
        host = Host.discover()
        manifest = read_manifest(expand_home(path), known=known_assets(host))
        return cls._of(SampleReader(manifest, host, task), batch_size)

    @classmethod
    def from_dict(
        cls,
        manifest: Mapping[str, Any],
        batch_size: int = 1,
        default_root: str | Path | None = None,
        *,
        task: TaskType | str | None = None,
    ) -> RPXDataset:
        """The dataset of a manifest in memory, which is not changed.

        Files lie below the manifest's root: relative to `default_root` and inside it, or, without
        one, wherever it leads from the current folder.
        """
        if not isinstance(manifest, Mapping):
            raise ManifestError(
                f"a manifest is a mapping with `task` and `samples`, not {type(manifest).__name__}",
                hint="RPXDataset.from_manifest(path) reads a file",
            )
        header = {key: value for key, value in manifest.items() if key != "samples"}
        samples = copy_samples(manifest.get("samples"))
        root = resolve_root(header, None if default_root is None else Path(default_root))
        host = Host.discover()
        built = build_manifest(header, samples, root=root, known=known_assets(host))
        return cls._of(SampleReader(built, host, task), batch_size)

    @classmethod
    def from_name(
        cls,
        name: str,
        batch_size: int = 1,
        *,
        task: TaskType | str,
        split: str | None = None,
        limit: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> RPXDataset:
        """A dataset that is installed, such as `demo`, as `rpx run --data` would open it.

        `split` keeps the samples of one difficulty, `limit` the first so many in the order of
        their ids. Raises ConfigError for an unknown name, with those that are close.
        """
        host = Host.discover()
        given = {"name": name, "split": split, "limit": limit, "options": dict(options or {})}
        data = build_config({"data": given}, source="RPXDataset.from_name").data
        manifest = open_dataset(host, data, host.find("task", str(task)))
        return cls._of(SampleReader(manifest, host, task, data), batch_size)

    @property
    def task(self) -> TaskType | str:
        """The task, as a `TaskType` where it is a well-known one."""
        name = self._reader.offer.spec.name
        return TaskType(name) if name in set(TaskType) else name

    @property
    def root(self) -> Path:
        """The folder that all files lie below."""
        return self._reader.root

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the data; results of it say so too."""
        return self._reader.warnings

    @property
    def batch_size(self) -> int:
        """Samples per list."""
        return self._batch_size

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[list[Sample]]:
        samples = self._reader.samples()
        while batch := list(islice(samples, self._batch_size)):
            yield batch

    def stretches(self) -> Iterator[Stretch]:
        """The samples sequence by sequence, as a run goes through them."""
        return self._reader.stretches()

    @classmethod
    def _of(cls, reader: SampleReader, batch_size: int) -> RPXDataset:
        dataset = cls.__new__(cls)
        dataset._open(reader, batch_size)
        return dataset

    def _open(self, reader: SampleReader | SampleList, batch_size: int) -> None:
        if type(batch_size) is not int or batch_size < 1:
            raise ConfigError(
                f"batch_size is {batch_size!r}; a whole number from 1 on was expected"
            )
        self._reader = reader
        self._batch_size = batch_size
        self._length = reader.count_samples()


def _are_ready(samples: object) -> bool:
    """Whether these are samples; raises ManifestError for samples among records."""
    if not isinstance(samples, Sequence) or isinstance(samples, str | bytes):
        return False
    ready = [isinstance(sample, Sample) for sample in samples]
    if any(ready) and not all(ready):
        raise ManifestError(
            "`samples` holds both records and Sample objects; all of one kind",
            hint="load the records into samples first, or give both in datasets of their own",
        )
    return any(ready)
