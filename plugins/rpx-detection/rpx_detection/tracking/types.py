"""What the tracking task passes around: tracks, ground truth, prediction, query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Tracklet:
    """Boxes of one object over consecutive frames; one box where a sample is one frame.

    `boxes` is float64 (T, 4), half-open `xyxy` pixels; `scores` is (T,) where there are any.
    """

    track_id: str
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64] | None = None
    label: str | None = None


@dataclass(frozen=True, eq=False)
class TrackletGroundTruth:
    """The objects of one frame; `tracks` are to be found, the rest serves to judge fairly.

    A prediction that matches a `distractor`, or lies for the larger part in an ignored region
    (N, 4) and matches nothing, does not count. `bystanders` take part in that matching, without
    excusing anything.
    """

    tracks: Sequence[Tracklet]
    distractors: Sequence[Tracklet] = ()
    bystanders: Sequence[Tracklet] = ()
    ignored_regions: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))


@dataclass(frozen=True, eq=False)
class TrackletPrediction:
    """The objects that a tracker reports in one frame, each under the id that it keeps."""

    tracks: Sequence[Tracklet]


@dataclass(frozen=True, eq=False)
class Detections:
    """Boxes without identity: `boxes` (N, 4) half-open `xyxy` pixels, `scores` (N,), `labels`."""

    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: Sequence[str | None]


@dataclass(frozen=True, eq=False)
class TrackingQuery:
    """What a tracker gets beside the image: the detections that a dataset gives to all trackers."""

    detections: Detections | None = None
