"""Where a tracker's boxes come from: a detector of this package, or detections in the data."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np

from rpx_core.contracts import Model, Runtime, Sample
from rpx_core.errors import ConfigError, ModelError
from rpx_core.specs import ModelSpec
from rpx_detection.tracking.types import Detections, TrackingQuery

GIVEN = "given"
_DETECTION = "object_detection"


class Detector(Protocol):
    """Boxes of one image, without identity."""

    def setup(self) -> None:
        """Get ready; called once."""
        ...

    def detect(self, sample: Sample) -> Detections:
        """The objects of one frame."""
        ...


class GivenDetector:
    """The detections that the dataset lists for each frame (`detections`)."""

    def setup(self) -> None:
        """Nothing to load."""

    def detect(self, sample: Sample) -> Detections:
        """The frame's detections; raises ModelError where none are listed."""
        query = sample.query
        if not isinstance(query, TrackingQuery) or query.detections is None:
            raise ModelError(
                f"sample {sample.id}: the data gives no detections to track",
                hint="list them as `detections`, or choose a detector: "
                "--set model.options.detector=NAME",
            )
        return query.detections


class ModelDetector:
    """A detection model, asked for one frame at a time."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def setup(self) -> None:
        """Load the model."""
        self._model.setup()

    def detect(self, sample: Sample) -> Detections:
        """What the model answers."""
        (found,) = self._model.predict([sample])
        return Detections(
            np.asarray(found.boxes, np.float64).reshape(-1, 4),
            np.asarray(found.scores, np.float64).reshape(-1),
            list(found.labels),
        )


def load_detector(name: str, runtime: Runtime) -> Detector:
    """The detector of this name; raises ConfigError with the names that there are."""
    if name == GIVEN:
        return GivenDetector()
    detectors = _detection_models()
    if name not in detectors:
        raise ConfigError(
            f"model.options.detector: there is no detector {name!r}",
            hint=f"one of {', '.join((GIVEN, *detectors))}",
        )
    spec = detectors[name]
    options = None if spec.options is None else _import(spec.options)()
    return ModelDetector(_import(spec.target)(options, runtime))


def _detection_models() -> dict[str, ModelSpec]:
    from rpx_detection.plugin import rpx_models

    return {spec.name: spec for spec in rpx_models() if _DETECTION in spec.tasks}


def _import(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)
