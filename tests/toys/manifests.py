"""Manifests of a few samples, written and opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import ManifestError
from rpx_core.manifest import Manifest, read_manifest

SAMPLES: list[dict[str, Any]] = [
    {"id": "a_10", "scene": "a", "phase": "clean", "rgb": "a/10.png", "depth": "a/10.npy"},
    {"id": "a_9", "scene": "a", "phase": "clean", "rgb": "a/9.png", "metadata": {"note": 1}},
    {"id": "b_0", "scene": "b", "phase": 0, "difficulty": "hard", "rgb": "b/0.png"},
    {"id": "lone", "rgb": "lone.png"},
]


def write(folder: Path, samples: Sequence[Any], name: str = "set.json", **header: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"task": "monocular_depth", **header}
    if path.suffix == ".jsonl":
        lines = [document, *samples]
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    else:
        path.write_text(json.dumps({**document, "samples": samples}), encoding="utf-8")
    return path


def opened(folder: Path, samples: Sequence[Any], name: str = "set.json", **header: Any) -> Manifest:
    return read_manifest(write(folder, samples, name, **header))


def problem(folder: Path, samples: Sequence[Any], **header: Any) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        opened(folder, samples, **header)
    return caught.value


def ids(manifest: Manifest) -> dict[str, list[str]]:
    return {name: [e.id for e in entries] for name, entries in manifest.sequences().items()}
