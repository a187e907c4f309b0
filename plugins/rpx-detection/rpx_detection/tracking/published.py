"""The published names of tracking, with their published signatures."""

from __future__ import annotations

from rpx_detection.tracking.adapters import NumpyTrackingModel, TrackingFunction
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

__all__ = [
    "Tracklet",
    "TrackletGroundTruth",
    "TrackletPrediction",
    "make_numpy_tracking_model",
]


def make_numpy_tracking_model(fn: TrackingFunction, *, name: str) -> NumpyTrackingModel:
    """A tracker from `fn(rgb)`, called on the frames of a sequence in order.

    It returns a list of `{"track_id", "box": [x0, y0, x1, y1], "score"?, "label"?}` in half-open
    pixels. Where `fn` has `reset()`, that is called before the first frame of each sequence.
    """
    return NumpyTrackingModel(fn, name)
