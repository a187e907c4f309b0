"""What makes two runs the same: a digest of everything that can move a number."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Collection, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from importlib_metadata import distribution

from rpx_core.distributions import GROUP, installed_version, is_editable
from rpx_core.documents import to_json
from rpx_core.errors import ConfigError
from rpx_core.names import bare_name

if TYPE_CHECKING:
    from rpx_core.config import RunConfig
    from rpx_core.manifest import Manifest
    from rpx_core.resolution import Resolved


def digest(inputs: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of the inputs."""
    return hashlib.sha256(to_json(inputs)).hexdigest()


def run_inputs(config: RunConfig, resolved: Resolved, manifest: Manifest) -> dict[str, Any]:
    """Everything that can move a number of a run: names, versions and digests, never a path."""
    parts = [resolved.task_part, *resolved.metric_parts.values()]
    if resolved.model.part is not None:
        parts.append(resolved.model.part)
    owners = {part.name.split("/")[0] for part in parts}
    protocol = resolved.protocol
    return {
        "task": {**resolved.task_part.identity(), "task": resolved.task.version},
        "metrics": {
            label: {**resolved.metric_parts[label].identity(), "metric": metric.version}
            for label, metric in resolved.metrics.items()
        },
        "model": resolved.model.identity(),
        "data": {
            "dataset_id": manifest.dataset_id,
            **({"origin": dict(manifest.origin)} if manifest.origin else {}),
            "split": config.data.split,
            "limit": config.data.limit,
        },
        "protocol": protocol.identity(config) if protocol else None,
        "align": config.align.model_dump(),
        **({"primary": config.primary} if config.primary is not None else {}),
        "readiness": config.readiness,
        "seed": config.seed,
        **installed_inputs(owners),
    }


def installed_inputs(owners: Collection[str]) -> dict[str, Any]:
    """Versions of the distributions whose code makes the numbers, and digests of editable ones."""
    owners = {*owners, "rpx-core"}
    return {
        "distributions": {name: installed_version(name) for name in sorted(owners | {"numpy"})},
        "sources": {name: sources_digest(name) for name in sorted(owners) if is_editable(name)},
    }


def sources_digest(name: str) -> str:
    """A digest of the files of an editable distribution, which can change without a version.

    Raises ConfigError where they cannot be found: such a run could not be told from another.
    """
    found = distribution(name)
    declared = {point.module.partition(".")[0] for point in found.entry_points.select(group=GROUP)}
    listed = set((found.read_text("top_level.txt") or "").split())
    # Old tools list modules that are not there; what is declared to us has to be.
    modules = declared | {module for module in listed if _find_module(module) is not None}
    if not modules:
        raise ConfigError(
            f"{name} is installed editable, but neither its entry points nor top_level.txt name a "
            "package whose files could identify the run",
            hint=f"declare an entry point of the group {GROUP!r}, or install it not editable",
        )
    return digest_of({module: source_digest(module) for module in modules})


def source_digest(module: str) -> str:
    """A digest of all files of a package, or of the file of a module; raises ConfigError."""
    spec = _find_module(module)
    if spec is not None and spec.submodule_search_locations:
        files: dict[str, str] = {}
        for location in sorted(spec.submodule_search_locations):
            files |= folder_files(Path(location), skip=frozenset({"__pycache__"}))
        if files:
            return digest_of(files)
    elif spec is not None and spec.origin is not None and Path(spec.origin).is_file():
        return file_digest(Path(spec.origin))
    raise ConfigError(
        f"the source files of the module {module!r} cannot be found, so nothing identifies its "
        "version in a run",
        hint="install the package that holds it again",
    )


def _find_module(module: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None


def path_digest(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of all files in a folder."""
    return digest_of(folder_files(path)) if path.is_dir() else file_digest(path)


def folder_files(root: Path, *, skip: Collection[str] = ()) -> dict[str, str]:
    """The digest of every file below a folder by its relative name; links are followed.

    `skip` are names of folders to leave out.
    """
    found = {}
    entered: set[str] = set()
    for place, folders, names in os.walk(root, onerror=_refuse, followlinks=True):
        # A link may lead back to where it lies.
        real = os.path.realpath(place)
        again = real in entered
        entered.add(real)
        folders[:] = [] if again else sorted(name for name in folders if name not in skip)
        for path in (Path(place, name) for name in names if not again):
            if path.is_file():
                found[path.relative_to(root).as_posix()] = file_digest(path)
    return found


def _refuse(error: OSError) -> None:
    # A folder that cannot be listed must not pass for an empty one.
    raise error


def digest_of(parts: Mapping[str, str]) -> str:
    """One digest of named digests, in whatever order they come."""
    total = hashlib.sha256()
    for name, part in sorted(parts.items()):
        total.update(name.encode("utf-8", "surrogateescape") + b"\0" + part.encode())
    return f"sha256:{total.hexdigest()}"


def file_digest(path: Path) -> str:
    """SHA-256 of one file."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def run_name(model: str, task: str, data: str) -> str:
    """A folder name that people can read, safe on every file system."""
    parts = map(bare_name, (model, task, data))
    slugs = (re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.")[:40] or "x" for part in parts)
    return "_".join(slugs).lower()
