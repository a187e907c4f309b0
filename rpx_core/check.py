"""Checking a dataset: every sample is read once, exactly as a run would read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rpx_core.arrangement import arrange
from rpx_core.config import Data
from rpx_core.contracts import Task
from rpx_core.datasets import open_dataset
from rpx_core.depth_scales import describe_depth
from rpx_core.errors import ConfigError
from rpx_core.guard import guarded
from rpx_core.host import Host
from rpx_core.manifest import Manifest
from rpx_core.parts import resolve_part
from rpx_core.progress import Progress, Silent
from rpx_core.report import Failure


@dataclass(frozen=True)
class Checked:
    """What a check found: different samples, however many tasks read them, and all problems."""

    samples: int
    problems: tuple[str, ...]
    tasks: tuple[str, ...]
    depth: tuple[str, ...] = ()
    """Which scale depth maps were read with, and what that gives."""

    def document(self) -> dict[str, Any]:
        """The same for `--json`."""
        return {
            "samples": self.samples,
            "tasks": list(self.tasks),
            "problems": list(self.problems),
            "depth": list(self.depth),
        }


def check_dataset(
    host: Host,
    data: Data,
    task: str | None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Checked:
    """Read every sample of a dataset as each installed task that it serves reads it.

    `options` are those of the one task that is named.
    """
    manifest = open_dataset(host, data, host.find("task", task) if task else None)
    served = manifest.header.served()
    installed = {offer.spec.name: offer for offer in host.offers("task").values()}
    wanted = [task] if task else [name for name in served if name in installed]
    if not wanted:
        raise ConfigError(
            f"{manifest.name} serves {', '.join(served)}; no installed task reads that",
            hint="install the plugin of one of these tasks",
        )
    if options and len(wanted) > 1:
        raise ConfigError("options are those of one task", hint="say which one with --task")
    problems: list[str] = list(manifest.warnings)
    if not manifest.entries:
        problems.append(f"{manifest.name} has no samples, and a run needs some")
    samples: set[str] = set()
    progress = progress or Silent()
    progress.begin(len(manifest.entries) * len(wanted), 0)
    for name in wanted:
        part = resolve_part(host.find("task", name), options or {}, field_name="options")
        for identifier, problem in _problems(manifest, part.build(), name):
            samples.add(identifier)
            progress.advance(1)
            if problem is not None:
                problems.append(problem)
    return Checked(len(samples), tuple(problems), tuple(wanted), describe_depth(manifest))


def _problems(
    manifest: Manifest, task: Task[Any, Any], name: str
) -> Iterator[tuple[str, str | None]]:
    """Each sample's id, and what is wrong with it, if anything."""
    files = manifest.files
    for entries in manifest.sequences().values():
        for record in arrange(task, manifest.records(entries), files):
            declared = files.declaring(record.checksums)
            found = guarded("load", partial(task.load, record, declared))
            told = f"{record.id} ({name}): {found.text}" if isinstance(found, Failure) else None
            yield record.id, told
