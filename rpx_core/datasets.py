"""Opening the data that a configuration names: a registered dataset or a manifest file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rpx_core.config import Data
from rpx_core.contracts import Difficulty
from rpx_core.errors import ConfigError, PluginError
from rpx_core.host import Host
from rpx_core.isolation import call_plugin
from rpx_core.manifest import Entry, Manifest, read_manifest
from rpx_core.models import require_extra
from rpx_core.parts import resolve_part

MANIFEST_SUFFIXES = (".json", ".jsonl", ".ndjson")


def cache_directory() -> Path:
    """Where generated and downloaded data is kept: $RPX_CACHE_DIR, else the user's cache."""
    named = os.environ.get("RPX_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rpx"


def open_dataset(host: Host, data: Data) -> Manifest:
    """The manifest of a dataset; raises ConfigError for an unknown name, ManifestError if bad."""
    known = known_assets(host)
    if is_manifest_path(data):
        return _open_file(data, known)
    offer = host.find("dataset", data.name)
    require_extra(offer)
    part = resolve_part(offer, data.options, field_name="data.options")
    manifest = call_plugin(f"dataset {offer.full_name}", lambda: part.call(cache_directory()))
    if not isinstance(manifest, Manifest):
        raise PluginError(f"dataset {offer.full_name} did not return a Manifest")
    return manifest


def index_layout(host: Host, name: str, options: dict[str, Any]) -> Manifest:
    """The manifest of folders in a registered layout."""
    offer = host.find("dataset", name)
    if not offer.spec.layout:
        layouts = [o.spec.name for o in host.offers("dataset").values() if o.spec.layout]
        raise ConfigError(
            f"{name} is a dataset, not a layout of folders",
            hint=f"layouts: {', '.join(layouts) or 'none is installed'}",
        )
    return open_dataset(host, Data(name=offer.full_name, options=options))


def is_manifest_path(data: Data) -> bool:
    """Whether the data is named by the path of a manifest rather than by a registered name."""
    return data.name.endswith(MANIFEST_SUFFIXES)


def known_assets(host: Host) -> frozenset[str]:
    """Every record key that an installed task understands."""
    specs = [offer.spec for offer in host.offers("task").values()]
    return frozenset(key for spec in specs for key in (*spec.requires, *spec.assets))


def select(manifest: Manifest, data: Data) -> dict[str, list[Entry]]:
    """Entries by sequence of the split asked for; raises ConfigError when none is left.

    The splits of a manifest are the difficulties of its records.
    """
    sequences = manifest.sequences()
    if data.split is None or data.split == "all":
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
    return read_manifest(
        Path(data.name).expanduser(), known=known, root=Path(root) if root else None
    )
