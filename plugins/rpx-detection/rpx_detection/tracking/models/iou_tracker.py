"""Tracking by overlap with where each object was last seen."""

from __future__ import annotations

from rpx_core.contracts import Runtime
from rpx_detection.tracking.models.detectors import load_detector
from rpx_detection.tracking.models.motion import Still
from rpx_detection.tracking.models.tracker import Tracker, TrackerOptions


def load(options: TrackerOptions, runtime: Runtime) -> Tracker:
    """The tracker, with its detector."""
    return Tracker(options, load_detector(options.detector, runtime), Still)
