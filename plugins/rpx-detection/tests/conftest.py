"""Images of boxes to make, and a dataset folder to fill, which tasks read as a run does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import build_manifest
from rpx_detection.detection import (
    ObjectDetection,
    ObjectDetectionOptions,
    OpenVocabDetection,
    OpenVocabDetectionOptions,
)
from rpx_detection.grounding import VisualGrounding
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction

Box = Sequence[float]


def truth_of(*objects: tuple[str, Box], **fields: Any) -> DetectionGroundTruth:
    """A truth from (label, box) pairs; other fields by name."""
    boxes = np.array([box for _, box in objects], np.float64).reshape(-1, 4)
    return DetectionGroundTruth(boxes, tuple(label for label, _ in objects), **fields)


def prediction_of(*detections: tuple[str, Box, float]) -> DetectionPrediction:
    """A prediction from (label, box, score) triples."""
    return DetectionPrediction(
        np.array([box for _, box, _ in detections], np.float64).reshape(-1, 4),
        np.array([score for _, _, score in detections], np.float64),
        tuple(label for label, _, _ in detections),
    )


class DetectionFolder:
    """A manifest of one record in a folder, and what each task makes of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.header: dict[str, Any] = {"tasks": ["object_detection", "visual_grounding"]}
        self.keys: dict[str, Any] = {"id": "scene1_clutter_00007", "scene": "scene1", "phase": 0}

    def put(self, key: str, name: str, content: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.keys[key] = name

    def put_json(self, key: str, content: Any) -> None:
        self.put(key, f"{key}.json", json.dumps(content).encode())

    def put_rgb(self, height: int = 60, width: int = 80) -> None:
        self.put("rgb", "rgb.png", encode_png(np.full((height, width, 3), 90, np.uint8)))

    def load(self, **options: Any) -> Sample:
        return self._load(ObjectDetection(ObjectDetectionOptions(**options)))

    def load_open(self, **options: Any) -> Sample:
        return self._load(OpenVocabDetection(OpenVocabDetectionOptions(**options)))

    def load_grounding(self) -> list[Sample]:
        task, files = VisualGrounding(), Files(self.root)
        return [task.load(record, files) for record in task.arrange(self._records(), files)]

    def _load(self, task: ObjectDetection) -> Sample:
        (record,) = self._records()
        return task.load(record, Files(self.root))

    def _records(self) -> list[Any]:
        known = ("negative_labels", "not_exhaustive_labels")
        manifest = build_manifest(self.header, [self.keys], root=self.root, known=known)
        return manifest.records(manifest.entries)


@pytest.fixture
def folder(tmp_path: Path) -> DetectionFolder:
    found = DetectionFolder(tmp_path)
    found.put_rgb()
    return found


@pytest.fixture(scope="session")
def truth() -> Callable[..., DetectionGroundTruth]:
    """Make a truth from (label, box) pairs."""
    return truth_of


@pytest.fixture(scope="session")
def prediction() -> Callable[..., DetectionPrediction]:
    """Make a prediction from (label, box, score) triples."""
    return prediction_of


@pytest.fixture(scope="session")
def pooled() -> Callable[..., dict[str, float | None]]:
    """The numbers of a metric over images, given as (truth, prediction) pairs."""
    from rpx_core.state import fold

    def evaluate(metric: Any, *images: tuple[Any, Any]) -> dict[str, float | None]:
        states = [
            metric.measure(Sample(f"s{number}"), *image) for number, image in enumerate(images)
        ]
        return dict(metric.result(fold([state for state in states if state is not None])))

    return evaluate
