"""Images of boxes to make, and a dataset folder to fill, which tasks read as a run does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.testing import defined
from rpx_detection.detection import (
    ObjectDetection,
    ObjectDetectionOptions,
    OpenVocabDetection,
    OpenVocabDetectionOptions,
)
from rpx_detection.grounding import VisualGrounding
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction
from tests.dataset_folder import RecordFolder

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


class DetectionFolder(RecordFolder):
    """A manifest of one record in a folder, and what each task makes of it."""

    def load(self, **options: Any) -> Sample:
        return self.load_only(ObjectDetection(ObjectDetectionOptions(**options)))

    def load_open(self, **options: Any) -> Sample:
        return self.load_only(OpenVocabDetection(OpenVocabDetectionOptions(**options)))

    def load_grounding(self) -> list[Sample]:
        return self.load_all(VisualGrounding())


@pytest.fixture
def folder(tmp_path: Path) -> DetectionFolder:
    """A record with a 60x80 image."""
    known = ("negative_labels", "not_exhaustive_labels")
    tasks = ["object_detection", "visual_grounding"]
    found = DetectionFolder(tmp_path, known=known, tasks=tasks)
    found.put_rgb((60, 80))
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
        return dict(metric.result(fold(defined(states))))

    return evaluate
