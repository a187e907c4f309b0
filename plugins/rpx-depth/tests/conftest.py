"""A dataset folder to fill, and tasks that read from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rpx_core.contracts import Sample
from rpx_core.demo import write_motorcycle
from rpx_core.files import Files
from rpx_core.manifest import read_manifest
from rpx_core.records import Record
from rpx_depth.monocular_depth import MonocularDepth, MonocularDepthOptions
from rpx_depth.options import DepthOptions
from rpx_depth.sparse_depth import SparseDepth
from tests.dataset_folder import RecordFolder


class DepthFolder(RecordFolder):
    """One record, and what the tasks make of it."""

    def load(self, **options: Any) -> Sample:
        return self.load_only(MonocularDepth(MonocularDepthOptions(**options)))

    def load_points(self, **options: Any) -> Sample:
        return self.load_only(SparseDepth(DepthOptions(**options)))


@pytest.fixture
def folder(tmp_path: Path) -> DepthFolder:
    """A record with a 2x3 image."""
    tasks = ["monocular_depth", "sparse_depth"]
    found = DepthFolder(tmp_path, tasks=tasks, pose_convention="opencv")
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
