"""A dataset folder to fill, and the task reading from it as a run does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import build_manifest
from rpx_depth.task import MonocularDepth, MonocularDepthOptions


class DatasetFolder:
    """One record, its files, and the task's reading of it."""

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
        header = {"task": "monocular_depth", "pose_convention": "opencv"}
        manifest = build_manifest(header, [self.keys], root=self.root)
        (record,) = manifest.records(manifest.entries)
        return MonocularDepth(MonocularDepthOptions(**options)).load(record, Files(self.root))


@pytest.fixture
def folder(tmp_path: Path) -> DatasetFolder:
    found = DatasetFolder(tmp_path)
    found.put_rgb()
    return found


@pytest.fixture(scope="session")
def task() -> Callable[..., MonocularDepth]:
    """The task with the options given."""
    return lambda **options: MonocularDepth(MonocularDepthOptions(**options))
