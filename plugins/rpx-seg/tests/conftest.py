"""A dataset folder to fill, and both tasks reading from it as a run does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.images import encode_png
from rpx_seg.object_segmentation import ObjectSegmentation, ObjectSegmentationOptions
from rpx_seg.semantic_segmentation import SemanticSegmentation, SemanticSegmentationOptions
from tests.dataset_folder import RecordFolder


class SegmentationFolder(RecordFolder):
    """One record, and the tasks' reading of it."""

    def put_ids(self, key: str, ids: Any, name: str | None = None) -> None:
        self.put(key, name or f"{key}.png", encode_png(np.asarray(ids, np.uint16)))

    def load_instances(self, **options: Any) -> Sample:
        return self.load_only(ObjectSegmentation(ObjectSegmentationOptions(**options)))

    def load_classes(self, **options: Any) -> Sample:
        return self.load_only(SemanticSegmentation(SemanticSegmentationOptions(**options)))


@pytest.fixture
def folder(tmp_path: Path) -> SegmentationFolder:
    """A record with a 2x3 image."""
    found = SegmentationFolder(tmp_path, task="object_segmentation", pose_convention="opencv")
    found.put_rgb()
    return found
