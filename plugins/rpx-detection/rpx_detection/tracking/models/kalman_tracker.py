"""Tracking by overlap with where each object is expected if it moves on as before."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from rpx_core.contracts import Runtime
from rpx_detection.tracking.models.detectors import load_detector
from rpx_detection.tracking.models.motion import ConstantVelocity
from rpx_detection.tracking.models.tracker import Tracker, TrackerOptions

Share = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class KalmanTrackerOptions(TrackerOptions):
    """The same, and how boxes move; all in box heights.

    `noise` is the error of a detection, `jolt` how much a velocity changes per frame, `surprise`
    the velocity that a new track may have.
    """

    max_gap: Annotated[int, Field(ge=0)] = 3
    noise: Share = 0.05
    jolt: Share = 0.02
    surprise: Share = 0.5


def load(options: KalmanTrackerOptions, runtime: Runtime) -> Tracker:
    """The tracker, with its detector."""
    motion = partial(ConstantVelocity, options.noise, options.jolt, options.surprise)
    return Tracker(options, load_detector(options.detector, runtime), motion)
