"""Laws of datasets: what opens is a manifest, the same each time, that its tasks can read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from rpx_core.conformance.bench import Bench, require_modules
from rpx_core.conformance.laws import Check, ConformanceError, require
from rpx_core.datasets import cache_directory, wanted_by
from rpx_core.errors import RPXError
from rpx_core.isolation import Breakdown, attempt
from rpx_core.manifest import Manifest
from rpx_core.names import is_same_task
from rpx_core.offers import Offer
from rpx_core.parts import load_options_class, resolve_part
from rpx_core.specs import DatasetSpec


class OfferedDataset:
    """One offered dataset."""

    def __init__(self, offer: Offer[DatasetSpec], bench: Bench) -> None:
        self._offer = offer
        self._bench = bench

    def check_opened(self) -> None:
        """Raise unless what opens is a manifest with records."""
        require_modules(self._offer)
        require(self._manifest.entries, "it has no records")

    def check_served(self) -> None:
        """Raise unless manifest and spec name the same tasks."""
        served, named = self._manifest.header.served(), self._offer.spec.tasks
        strange = [task for task in served if not any(is_same_task(task, name) for name in named)]
        require(served, "its manifest says of no task that it serves it")
        require(not strange, f"its manifest serves {', '.join(strange)}, which its spec leaves out")

    def check_records(self) -> None:
        """Raise unless every record can be read and ids are unique."""
        ids: set[str] = set()
        for entries in self._manifest.sequences().values():
            for record in self._manifest.records(entries):
                require(record.id not in ids, f"the id {record.id!r} occurs twice")
                ids.add(record.id)

    def check_samples(self) -> None:
        """Raise unless the first sample of each installed task that it serves can be loaded."""
        entries = next(iter(self._manifest.sequences().values()))
        for task in self._bench.tasks(self._offer):
            built = self._bench.resolve(task).build()
            files = self._manifest.files
            records = built.arrange(self._manifest.records(entries), files)
            if records:
                sample = built.load(records[0], files.declaring(records[0].checksums))
                require(sample.id == records[0].id, f"{task.spec.name} loads another sample")

    def check_identity(self) -> None:
        """Raise unless it is the same dataset when it is made anew."""
        with self._bench.fresh_cache() as cache:
            again = self._open(cache)
            require(
                again.dataset_id == self._manifest.dataset_id,
                "opened in an empty cache, it is another dataset",
                hint="order what a folder lists, draw from a seed, and store no time or path",
            )

    def check_empty(self) -> None:
        """Raise unless a folder without data is refused in one clear error."""
        target = self._offer.spec.options
        if target is None:
            raise ConformanceError("a layout has options that carry `root`")
        fields = load_options_class(target, self._offer.full_name).model_fields
        require("root" in fields, "the options of a layout carry `root`")
        with tempfile.TemporaryDirectory() as empty:
            part = resolve_part(self._offer, {"root": empty}, field_name="options")
            done = attempt("opening an empty folder", lambda: part.call(Path(empty)))
            if not isinstance(done, Breakdown):
                raise ConformanceError("an empty folder is opened as a dataset")
            require(
                isinstance(done.error, RPXError),
                done.problem,
                hint="raise ManifestError that says which files were expected",
            )

    @cached_property
    def _manifest(self) -> Manifest:
        return self._open(cache_directory())

    def _open(self, cache: Path) -> Manifest:
        arguments: list[object] = [cache]
        if self._offer.spec.selective:
            task = next(iter(self._bench.tasks(self._offer)), None)
            arguments.append(wanted_by(self._bench.host, task, None))
        opened = self._bench.resolve(self._offer).call(*arguments)
        if not isinstance(opened, Manifest):
            raise ConformanceError(f"it opens as a {type(opened).__name__}, not as a Manifest")
        return opened


def dataset_checks(offer: Offer[DatasetSpec], bench: Bench) -> Iterator[Check]:
    """The laws of one offered dataset; of a layout, what holds without anybody's data."""
    subject, laws = f"dataset {offer.spec.name}", OfferedDataset(offer, bench)
    if offer.spec.layout:
        yield Check(subject, "an empty folder is refused clearly", laws.check_empty)
        if not bench.has_options(offer):
            return
    yield Check(subject, "it opens", laws.check_opened, gate=True)
    yield Check(subject, "manifest and spec name the same tasks", laws.check_served)
    yield Check(subject, "records can be read, ids are unique", laws.check_records)
    yield Check(subject, "its tasks load its samples", laws.check_samples)
    yield Check(subject, "made anew it is the same dataset", laws.check_identity)
