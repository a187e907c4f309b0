"""The published names of this package, with their published signatures."""

from __future__ import annotations

from rpx_core.contracts import TaskType
from rpx_core.errors import ConfigError
from rpx_detection.adapters import (
    BoxFormat,
    DetectionFunction,
    GroundingFunction,
    NumpyDetectionModel,
    NumpyGroundingModel,
)
from rpx_detection.tracking.published import (
    Tracklet,
    TrackletGroundTruth,
    TrackletPrediction,
    make_numpy_tracking_model,
)
from rpx_detection.types import (
    DetectionGroundTruth,
    DetectionPrediction,
    VisualGroundingGroundTruth,
    VisualGroundingPrediction,
)

__all__ = [
    "DetectionGroundTruth",
    "DetectionPrediction",
    "Tracklet",
    "TrackletGroundTruth",
    "TrackletPrediction",
    "VisualGroundingGroundTruth",
    "VisualGroundingPrediction",
    "make_numpy_detection_model",
    "make_numpy_grounding_model",
    "make_numpy_tracking_model",
]

_DETECTION = (TaskType.OBJECT_DETECTION, TaskType.OPEN_VOCAB_DETECTION)


def make_numpy_detection_model(
    fn: DetectionFunction, *, name: str, task: TaskType = TaskType.OBJECT_DETECTION
) -> NumpyDetectionModel:
    """A detector from `fn(rgb)`, which gets a uint8 (H, W, 3) image.

    It returns a dict of boxes (N, 4) in xyxy pixels, scores (N,) and labels (text), or the tuple of
    the three. `fn(rgb, vocabulary)` also gets the list of class names to look for.
    """
    if task not in _DETECTION:
        raise ConfigError(
            f"make_numpy_detection_model does not do {task}", hint=f"task is {_DETECTION[0]}"
        )
    return NumpyDetectionModel(fn, name, TaskType(task), BoxFormat())


def make_numpy_grounding_model(fn: GroundingFunction, *, name: str) -> NumpyGroundingModel:
    """A grounding model from `fn(rgb, text)`, which gets a uint8 (H, W, 3) image.

    It returns a dict of boxes (N, 4) in xyxy pixels and scores (N,), or the tuple of the two. The
    best-scored box is the answer, whatever its place; no box says that nothing fits the text.
    """
    return NumpyGroundingModel(fn, name, BoxFormat())
