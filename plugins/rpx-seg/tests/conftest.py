"""A dataset folder to fill, and both tasks reading from it as a run does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import build_manifest
from rpx_seg.object_segmentation import ObjectSegmentation, ObjectSegmentationOptions
from rpx_seg.semantic_segmentation import SemanticSegmentation, SemanticSegmentationOptions


class DatasetFolder:
    """One record, its files, and the tasks' reading of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.keys: dict[str, Any] = {"id": "scene1_clutter_00007", "scene": "scene1", "phase": 0}

    def put(self, key: str, name: str, content: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.keys[key] = name

    def put_rgb(self, shape: tuple[int, int]) -> None:
        self.put("rgb", "rgb.png", encode_png(np.full((*shape, 3), 90, np.uint8)))

    def put_ids(self, key: str, ids: Any, name: str | None = None) -> None:
        self.put(key, name or f"{key}.png", encode_png(np.asarray(ids, np.uint16)))

    def load_instances(self, **options: Any) -> Sample:
        return self._load(ObjectSegmentation(ObjectSegmentationOptions(**options)))

    def load_classes(self, **options: Any) -> Sample:
        return self._load(SemanticSegmentation(SemanticSegmentationOptions(**options)))

    def _load(self, task: Any) -> Sample:
        header = {"task": "object_segmentation", "pose_convention": "opencv"}
        manifest = build_manifest(header, [self.keys], root=self.root)
        (record,) = manifest.records(manifest.entries)
        sample: Sample = task.load(record, Files(self.root))
        return sample


@pytest.fixture
def folder(tmp_path: Path) -> DatasetFolder:
    """A record with a 2x3 image."""
    found = DatasetFolder(tmp_path)
    found.put_rgb((2, 3))
    return found
