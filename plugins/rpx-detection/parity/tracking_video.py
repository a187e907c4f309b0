"""A real video as tracking data: what moves is detected, and one tracker is scored against another.

Nobody has annotated the video, so the numbers say how far two trackers agree, no more; what counts
is that real crowds, gaps and fragments go through both evaluations alike.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tracking_scenes import Floats, Scene

from rpx_core.contracts import Runtime, Sample
from rpx_detection.tracking.models import iou_tracker, kalman_tracker
from rpx_detection.tracking.models.kalman_tracker import KalmanTrackerOptions
from rpx_detection.tracking.models.tracker import Tracker, TrackerOptions
from rpx_detection.tracking.types import Detections, TrackingQuery

_LEAST_PIXELS = 120
_WARM_UP = 20


def track_video(path: Path) -> Scene:
    """The Kalman tracker scored against the plain one, on the same detections."""
    frames = _detect(path)
    runtime = Runtime("cpu", 0, path.parent)
    plain = iou_tracker.load(TrackerOptions(detector="given"), runtime)
    kalman = kalman_tracker.load(KalmanTrackerOptions(detector="given", min_iou=0.2), runtime)
    # The truth lacks a tenth of the boxes and is a little off, or hardly anything would be wrong.
    rng = np.random.default_rng(0)
    thinned = [boxes[rng.random(len(boxes)) < 0.9] for boxes in frames]
    thinned = [boxes + rng.normal(0, 2, (len(boxes), 1)) for boxes in thinned]
    return Scene(len(frames), _follow(plain, thinned), _follow(kalman, frames))


def _detect(path: Path) -> list[Floats]:
    """Boxes of what moves in front of the background, (n, 4) for each frame."""
    import cv2

    video = cv2.VideoCapture(str(path))
    background = cv2.createBackgroundSubtractorMOG2(history=200, detectShadows=True)
    found = []
    while True:
        there, image = video.read()
        if not there:
            break
        moving = (background.apply(image) == 255).astype(np.uint8)
        moving = cv2.morphologyEx(moving, cv2.MORPH_CLOSE, np.ones((9, 5), np.uint8))
        _, _, stats, _ = cv2.connectedComponentsWithStats(moving)
        boxes = stats[1:][stats[1:, cv2.CC_STAT_AREA] >= _LEAST_PIXELS, :4].astype(np.float64)
        boxes[:, 2:] += boxes[:, :2]
        found.append(boxes)
    return found[_WARM_UP:]


def _follow(tracker: Tracker, frames: list[Floats]) -> Floats:
    rows = [np.zeros((0, 6))]
    for number, boxes in enumerate(frames):
        detections = Detections(boxes, np.ones(len(boxes)), [None] * len(boxes))
        sample = Sample(str(number), query=TrackingQuery(detections))
        (answer,) = tracker.predict([sample])
        rows += [
            np.concatenate([(number, int(track.track_id)), track.boxes[0]])[None]
            for track in answer.tracks
        ]
    table = np.concatenate(rows)
    return table[np.lexsort((table[:, 1], table[:, 0]))]
