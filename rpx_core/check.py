"""Checking a dataset: every sample is read once, exactly as a run would read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from rpx_core.config import Data
from rpx_core.contracts import Task
from rpx_core.datasets import open_dataset
from rpx_core.errors import ConfigError
from rpx_core.guard import guarded
from rpx_core.host import Host
from rpx_core.manifest import Manifest
from rpx_core.parts import resolve_part
from rpx_core.report import Failure


@dataclass(frozen=True)
class Checked:
    """What a check found: different samples, however many tasks read them, and all problems."""

    samples: int
    problems: tuple[str, ...]
    tasks: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The same for `--json`."""
        return {
            "samples": self.samples,
            "tasks": list(self.tasks),
            "problems": list(self.problems),
        }


def check_dataset(host: Host, data: Data, task: str | None) -> Checked:
    """Read every sample of a dataset as each installed task that it serves reads it."""
    manifest = open_dataset(host, data)
    served = manifest.header.served()
    installed = {offer.spec.name: offer for offer in host.offers("task").values()}
    wanted = [task] if task else [name for name in served if name in installed]
    if not wanted:
        raise ConfigError(
            f"{manifest.name} serves {', '.join(served)}; no installed task reads that",
            hint="install the plugin of one of these tasks",
        )
    problems: list[str] = list(manifest.warnings)
    samples: set[str] = set()
    for name in wanted:
        part = resolve_part(host.find("task", name), {}, field_name="options")
        for identifier, problem in _problems(manifest, part.build(), name):
            samples.add(identifier)
            if problem is not None:
                problems.append(problem)
    return Checked(len(samples), tuple(problems), tuple(wanted))


def _problems(
    manifest: Manifest, task: Task[Any, Any], name: str
) -> Iterator[tuple[str, str | None]]:
    """Each sample's id, and what is wrong with it, if anything."""
    files = manifest.files
    for entries in manifest.sequences().values():
        for record in task.arrange(manifest.records(entries), files):
            declared = files.declaring(record.checksums)
            found = guarded("load", partial(task.load, record, declared))
            failed = isinstance(found, Failure)
            yield record.id, f"{record.id} ({name}): {found.text}" if failed else None
