"""Opening the data that a configuration names: a registered dataset or a manifest file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from rpx_core.config import Data
from rpx_core.contracts import Difficulty
from rpx_core.errors import ConfigError, ManifestError, PluginError, count_of, first_few
from rpx_core.extras import require_extra
from rpx_core.files import expand_home
from rpx_core.folders import leaving
from rpx_core.host import Host, Offer
from rpx_core.isolation import call_plugin
from rpx_core.manifest import Entry, Manifest, read_manifest
from rpx_core.parts import resolve_part
from rpx_core.progress import Watch, watch_nothing
from rpx_core.shorthand import split_shorthand, with_argument
from rpx_core.specs import DatasetSpec, TaskSpec
from rpx_core.spelling import did_you_mean

MANIFEST_SUFFIXES = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Wanted:
    """What a command is going to read of a dataset, for one that can leave out the rest.

    `task` is the bare name and `keys` the record keys that it reads; None and empty where the
    command does not say. `known` are all keys that a record may have. `watch` shows long work.
    """

    task: str | None = None
    split: str | None = None
    keys: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    watch: Watch = watch_nothing


def cache_directory() -> Path:
    """Where generated and downloaded data is kept: $RPX_CACHE_DIR, else the user's cache."""
    named = os.environ.get("RPX_CACHE_DIR")
    if named:
        return expand_home(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rpx"


def open_dataset(host: Host, data: Data, task: Offer[TaskSpec] | None = None) -> Manifest:
    """The manifest of a dataset; raises ConfigError for an unknown name, ManifestError if bad.

    `task` is who will read it: a selective dataset fetches nothing else.
    """
    if is_manifest_path(data):
        return _open_file(data, known_assets(host))
    offer, text = find_dataset(host, data)
    require_extra(offer)
    options = with_argument(offer.spec, data.options, text, field_name="data.options")
    part = resolve_part(offer, options, field_name="data.options")
    arguments: list[object] = [cache_directory()]
    if offer.spec.selective:
        arguments.append(wanted_by(host, task, data.split))
    manifest = call_plugin(f"dataset {offer.full_name}", lambda: part.call(*arguments))
    if not isinstance(manifest, Manifest):
        raise PluginError(f"dataset {offer.full_name} did not return a Manifest")
    return manifest


def wanted_by(host: Host, task: Offer[TaskSpec] | None, split: str | None) -> Wanted:
    """What a task reads of a split; of no task in particular, nothing is said."""
    known, watch = known_assets(host), host.watch
    if task is None:
        return Wanted(split=split, known=known, watch=watch)
    keys = frozenset((*task.spec.requires, *task.spec.assets))
    return Wanted(task.spec.name, split, keys, known, watch)


def find_dataset(host: Host, data: Data) -> tuple[Offer[DatasetSpec], str | None]:
    """The registered dataset that a name means, and the text behind its colon."""
    name, text = split_shorthand(host, "dataset", data.name)
    try:
        return host.find("dataset", name), text
    except ConfigError as error:
        folder = Path(name).parent
        if os.sep not in name or Path(name).is_dir() or not folder.is_dir():
            raise
        near = did_you_mean(name, [str(path) for path in sorted(folder.iterdir())])
        raise ConfigError(
            f"{name}: there is no such file, nor a dataset of that name",
            hint=near or f"a manifest ends with one of {', '.join(MANIFEST_SUFFIXES)}",
        ) from error


def index_layout(host: Host, name: str, options: dict[str, Any]) -> Manifest:
    """The manifest of folders in a registered layout."""
    offer = host.find("dataset", name)
    if not offer.spec.layout:
        layouts = [o.spec.name for o in host.offers("dataset").values() if o.spec.layout]
        raise ConfigError(
            f"{name} is a dataset, not a layout of folders",
            hint=f"layouts: {', '.join(layouts) or 'none is installed'}",
        )
    manifest = open_dataset(host, Data(name=offer.full_name, options=options))
    _refuse_links_out(manifest)
    return manifest


def _refuse_links_out(manifest: Manifest) -> None:
    """Say at once what no run would read: images that links lead out of the root."""
    records = chain.from_iterable(map(manifest.records, manifest.sequences().values()))
    outside = leaving(manifest.root, (record.rgb for record in records if record.rgb))
    if outside:
        raise ManifestError(
            f"{manifest.root}: {count_of(len(outside), 'image')} lie outside it, behind links: "
            f"{first_few(outside, 3)}",
            hint="runs read nothing outside the root: copy the images there, or index the folder "
            "that holds both",
        )


def is_manifest_path(data: Data) -> bool:
    """Whether the data is named by the path of a manifest rather than by a registered name."""
    return data.name.endswith(MANIFEST_SUFFIXES)


def known_assets(host: Host) -> frozenset[str]:
    """Every record key that an installed task understands."""
    specs = [offer.spec for offer in host.offers("task").values()]
    return frozenset(key for spec in specs for key in (*spec.requires, *spec.assets))


def select(manifest: Manifest, data: Data) -> dict[str, list[Entry]]:
    """Entries by sequence of the split asked for; raises ConfigError when none is left.

    The splits of a manifest are the difficulties of its records; one that says which split it is
    holds nothing else.
    """
    sequences = manifest.sequences()
    split = data.split
    own = split is not None and manifest.header.split == split and split not in set(Difficulty)
    if split is None or own:
        chosen = sequences
    else:
        chosen = {
            name: kept
            for name, entries in sequences.items()
            if (kept := [entry for entry in entries if entry.difficulty == data.split])
        }
    if not chosen:
        raise ConfigError(
            f"no samples selected: {manifest.name} has {len(manifest.entries)} samples, "
            f"none in split {data.split!r}"
            if data.split
            else f"{manifest.name} has no samples",
            hint=f"samples per split: {_counts(manifest.entries)}",
        )
    return chosen


def _counts(entries: Sequence[Entry]) -> str:
    counts = {tier: sum(entry.difficulty == tier for entry in entries) for tier in Difficulty}
    return ", ".join(
        [f"all {len(entries)}", *(f"{tier} {count}" for tier, count in counts.items() if count)]
    )


def _open_file(data: Data, known: frozenset[str]) -> Manifest:
    options: dict[str, Any] = dict(data.options)
    root = options.pop("root", None)
    if options:
        raise ConfigError(
            f"data.options: unknown for a manifest file: {', '.join(options)}", hint="known: root"
        )
    return read_manifest(expand_home(data.name), known=known, root=Path(root) if root else None)
