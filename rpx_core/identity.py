"""What makes two runs the same: a digest of everything that can move a number."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpx_core.distributions import installed_version, is_editable
from rpx_core.documents import to_json

if TYPE_CHECKING:
    from rpx_core.config import RunConfig
    from rpx_core.resolve import Resolved


def digest(inputs: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of the inputs."""
    return hashlib.sha256(to_json(inputs)).hexdigest()


def run_inputs(config: RunConfig, resolved: Resolved, dataset_id: str) -> dict[str, Any]:
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
            "dataset_id": dataset_id,
            "split": config.data.split,
            "limit": config.data.limit,
        },
        "protocol": protocol.identity(config) if protocol else None,
        "align": config.align.model_dump(),
        "readiness": config.readiness,
        "seed": config.seed,
        **installed_inputs(owners),
    }


def installed_inputs(owners: Collection[str]) -> dict[str, Any]:
    """Versions of the distributions whose code makes the numbers, and digests of editable ones."""
    owners = {*owners, "rpx-core"}
    return {
        "distributions": {name: installed_version(name) for name in sorted(owners | {"numpy"})},
        "sources": {
            name: source_digest(name.replace("-", "_"))
            for name in sorted(owners)
            if is_editable(name)
        },
    }


def source_digest(package: str) -> str | None:
    """A digest of a package's source files, for installs that can change without a version."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    total = hashlib.sha256()
    for location in sorted(spec.submodule_search_locations):
        root = Path(location)
        for path in sorted(root.rglob("*")):
            if path.suffix in {".py", ".toml"} and "tests" not in path.parts:
                total.update(path.relative_to(root).as_posix().encode())
                total.update(hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{total.hexdigest()}"


def file_digest(path: Path) -> str:
    """SHA-256 of one file."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def run_name(model: str, task: str, data: str) -> str:
    """A folder name that people can read, safe on every file system."""
    parts = (model.rsplit("/", 1)[-1], task.rsplit("/", 1)[-1], data.rsplit("/", 1)[-1])
    slugs = (re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.")[:40] or "x" for part in parts)
    return "_".join(slugs).lower()
