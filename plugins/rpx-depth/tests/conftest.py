"""A dataset folder to fill, tasks that read from it, and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample, Task
from rpx_core.demo import write_motorcycle
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import build_manifest, read_manifest
from rpx_core.records import Record
from rpx_depth.monocular_depth import MonocularDepth, MonocularDepthOptions
from rpx_depth.options import DepthOptions
from rpx_depth.sparse_depth import SparseDepth


class DatasetFolder:
    """One record, its files, and what a task reads from it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.keys: dict[str, Any] = {"id": "scene1_clutter_00007", "scene": "scene1", "phase": 0}

    def put(self, key: str, name: str, content: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.keys[key] = name

    def put_rgb(self, shape: tuple[int, int] = (2, 3), key: str = "rgb") -> None:
        self.put(key, f"{key}.png", encode_png(np.full((*shape, 3), 90, np.uint8)))

    def load(self, **options: Any) -> Sample:
        return self._load(MonocularDepth(MonocularDepthOptions(**options)))

    def load_points(self, **options: Any) -> Sample:
        return self._load(SparseDepth(DepthOptions(**options)))

    def _load(self, task: Task[Any, Any]) -> Sample:
        header = {"tasks": ["monocular_depth", "sparse_depth"], "pose_convention": "opencv"}
        manifest = build_manifest(header, [self.keys], root=self.root)
        (record,) = manifest.records(manifest.entries)
        return task.load(record, Files(self.root))


@pytest.fixture
def folder(tmp_path: Path) -> DatasetFolder:
    found = DatasetFolder(tmp_path)
    found.put_rgb()
    return found


@pytest.fixture(scope="session")
def task() -> Callable[..., MonocularDepth]:
    """Dense depth with the options given."""
    return lambda **options: MonocularDepth(MonocularDepthOptions(**options))


@pytest.fixture(scope="session")
def sparse_task() -> Callable[..., SparseDepth]:
    """Sparse depth with the options given."""
    return lambda **options: SparseDepth(DepthOptions(**options))


@pytest.fixture(scope="session")
def motorcycle(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Files]:
    """The record of the real stereo pair, and its files."""
    path = write_motorcycle(tmp_path_factory.mktemp("motorcycle"))
    manifest = read_manifest(path)
    (record,) = manifest.records(manifest.entries)
    return record, Files(path.parent)


@pytest.fixture(scope="session")
def rpx() -> Callable[..., dict[str, Any]]:
    """What a command prints under `--json`; it must end with the exit code expected."""

    def run(folder: Path, *arguments: str, expect: int = 0) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "rpx_core.cli", *arguments, "--json"],
            cwd=folder,
            env={**os.environ, "RPX_CACHE_DIR": str(folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == expect, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run
