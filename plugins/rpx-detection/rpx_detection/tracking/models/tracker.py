"""Tracking by detection: boxes of each frame are joined to the tracks that they overlap most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Sample
from rpx_detection.boxes import pairwise_iou
from rpx_detection.tracking.assignment import solve
from rpx_detection.tracking.models.detectors import Detector
from rpx_detection.tracking.models.motion import Floats, Motion, Rows
from rpx_detection.tracking.types import Detections, Tracklet, TrackletPrediction


class TrackerOptions(BaseModel):
    """What is tracked and how long.

    `detector` is the name of a detector of rpx-detection, or `given` for the detections that the
    data lists. Detections scored below `min_score` are left out. A box joins the track whose
    expected box it overlaps by at least `min_iou`, such that the sum of overlaps is largest; a
    track that `max_gap` frames in a row do not show ends, and its id never comes back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    detector: str = "blobs"
    min_score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    min_iou: Annotated[float, Field(gt=0, le=1)] = 0.3
    max_gap: Annotated[int, Field(ge=0)] = 1


class Tracker:
    """Detects, joins detections to tracks, and answers those that were seen; online, in order."""

    task = "object_tracking"

    def __init__(
        self, options: TrackerOptions, detector: Detector, motion: Callable[[], Motion]
    ) -> None:
        self._options = options
        self._detector = detector
        self._new_motion = motion
        self.reset()

    def setup(self) -> None:
        """Set the detector up."""
        self._detector.setup()

    def reset(self) -> None:
        """Forget every track: a new sequence begins."""
        self._motion = self._new_motion()
        self._ids: NDArray[np.int64] = np.zeros(0, np.int64)
        self._unseen: NDArray[np.int64] = np.zeros(0, np.int64)
        self._next_id = 1

    def predict(self, batch: Sequence[Sample]) -> list[TrackletPrediction]:
        """The tracks seen in each frame; frames come in order."""
        return [TrackletPrediction(self._follow(sample)) for sample in batch]

    def _follow(self, sample: Sample) -> list[Tracklet]:
        found = self._filter(self._detector.detect(sample))
        rows, seen = self._associate(self._motion.predict(), found.boxes)
        self._motion.correct(rows, found.boxes[seen])
        self._unseen += 1
        self._unseen[rows] = 0
        names = np.zeros(len(found.boxes), np.int64)
        names[seen] = self._ids[rows]
        self._end(self._unseen > self._options.max_gap)
        fresh = np.flatnonzero(names == 0)
        names[fresh] = self._begin(found.boxes[fresh])
        return [
            Tracklet(str(name), box.reshape(1, 4), score.reshape(1), label)
            for name, box, score, label in zip(
                names.tolist(), found.boxes, found.scores, found.labels, strict=True
            )
        ]

    def _filter(self, found: Detections) -> Detections:
        if self._options.min_score is None:
            return found
        kept = np.flatnonzero(found.scores >= self._options.min_score)
        labels = [found.labels[place] for place in kept.tolist()]
        return Detections(found.boxes[kept], found.scores[kept], labels)

    def _associate(self, expected: Floats, boxes: Floats) -> tuple[Rows, Rows]:
        """Tracks and the detections that continue them."""
        iou = pairwise_iou(expected, boxes)
        near = iou >= self._options.min_iou
        # What is too far is out before the assignment, lest it takes the place of what is not.
        rows, columns = solve(np.where(near, iou, 0.0))
        joined = near[rows, columns]
        return rows[joined], columns[joined]

    def _end(self, lost: NDArray[np.bool_]) -> None:
        kept = np.flatnonzero(~lost)
        self._motion.keep(kept)
        self._ids, self._unseen = self._ids[kept], self._unseen[kept]

    def _begin(self, boxes: Floats) -> NDArray[np.int64]:
        """Tracks of their own for these boxes; their ids."""
        names = np.arange(self._next_id, self._next_id + len(boxes))
        self._next_id += len(boxes)
        self._motion.add(boxes)
        self._ids = np.concatenate([self._ids, names])
        self._unseen = np.concatenate([self._unseen, np.zeros(len(boxes), np.int64)])
        return names
