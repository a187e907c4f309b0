"""From a Python function that keeps state to a tracker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import FunctionModel, function_name, image_copy
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError
from rpx_detection.tracking.annotations import Origin, read_tracks
from rpx_detection.tracking.types import TrackletPrediction

TrackingFunction = Callable[[NDArray[np.uint8]], Any]
"""Takes uint8 RGB (H, W, 3), returns a list of `{"track_id", "box", "score"?, "label"?}`."""


class NumpyTrackingModel(FunctionModel[TrackletPrediction]):
    """Calls a function on the frames of each sequence in order; what it remembers is its own.

    A function without `reset()` is told nothing of where a sequence ends: its ids should then
    depend on the image alone, or never come again.
    """

    task = "object_tracking"

    def reset(self) -> None:
        """A new sequence begins."""
        forget = getattr(self._function, "reset", None)
        if callable(forget):
            forget()

    def answer(self, sample: Sample) -> TrackletPrediction:
        """The frame's tracks; raises AdapterError when the function returns no such list."""
        answer = self._function(image_copy(sample))
        origin = Origin(f"sample {sample.id}: {self.name}", AdapterError)
        return TrackletPrediction(read_tracks(answer, origin))


def wrap(function: TrackingFunction, options: None, runtime: Runtime) -> NumpyTrackingModel:
    """The function as a model, for the engine."""
    return NumpyTrackingModel(function, function_name(function))
