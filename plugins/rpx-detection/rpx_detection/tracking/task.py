"""The task `object_tracking`: boxes of every object, under one id from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Aligned, Frame, Picture, Sample, Task
from rpx_core.documents import read_json, to_json
from rpx_core.errors import ManifestError, ModelError
from rpx_core.files import Files
from rpx_core.frames import load_sample
from rpx_core.records import Record
from rpx_detection.tracking.annotations import Origin, read_tracks, write_tracks
from rpx_detection.tracking.mot import MotReader
from rpx_detection.tracking.mot_results import MotResults
from rpx_detection.tracking.preview import draw_preview
from rpx_detection.tracking.truth import load_detections, load_truth
from rpx_detection.tracking.types import (
    TrackingQuery,
    Tracklet,
    TrackletGroundTruth,
    TrackletPrediction,
)


class ObjectTrackingOptions(BaseModel):
    """What is scored of the predictions, and how MOTChallenge files are judged.

    Boxes with a score below `min_score` do not count; a box without score counts always. In
    MOTChallenge ground truth a prediction that matches an object of the classes in
    `mot_distractors` (their numbers) does not count: the default is that of MOT16 and MOT17.
    `frame_offset` is added to the frame numbers in MOTChallenge result files to get those of the
    data: 1 for files that count from 0 where the data counts from 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    mot_distractors: tuple[Annotated[int, Field(ge=1, le=13)], ...] = (2, 7, 8, 12)
    frame_offset: int = 0


class ObjectTracking(Task[TrackletGroundTruth, TrackletPrediction]):
    """Which objects are where in each frame of a sequence, and which of them are the same.

    A sample is one frame; its truth and prediction hold one box per track. The metrics see all
    frames of a sequence, in order, including those without any object.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".json"

    def __init__(self, options: ObjectTrackingOptions) -> None:
        self._options = options
        self._reader = MotReader()
        self.shared = MotResults(options.frame_offset)

    def load(self, record: Record, files: Files) -> Sample:
        """The image, where there is one, its tracks, and the detections given to trackers."""
        distractors = self._options.mot_distractors
        return load_sample(
            record,
            files,
            ground_truth=load_truth(record, files, self._reader, distractors),
            query=TrackingQuery(load_detections(record, files, self._reader)),
        )

    def complete(self, sample: Sample) -> Sample:
        """The query gives no detections."""
        return replace(sample, query=TrackingQuery()) if sample.query is None else sample

    def validate(self, prediction: Any, sample: Sample) -> TrackletPrediction:
        """Own copies of the tracks, one float64 box each; accepts a bare list of objects.

        Raises ModelError naming the frame when an id occurs twice or a box is no box.
        """
        tracks = prediction.tracks if isinstance(prediction, TrackletPrediction) else prediction
        return TrackletPrediction(read_tracks(tracks, Origin(_name(sample), ModelError)))

    def align(
        self, method: str, frames: Sequence[Frame]
    ) -> Sequence[Aligned[TrackletPrediction] | None]:
        """The predictions without boxes below `min_score`; `dropped` says how many those were."""
        least = self._options.min_score
        if least is None:
            return super().align(method, frames)
        return [_drop_doubtful(frame.prediction, least) for frame in frames]

    def perfect_prediction(self, sample: Sample) -> TrackletPrediction:
        """The true tracks of the frame, under their own ids."""
        return TrackletPrediction(tuple(sample.ground_truth.tracks))

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image, true and predicted tracks in the colours of their ids, and what is wrong."""
        return draw_preview(frame.sample.rgb, frame.truth, frame.prediction)

    def write_prediction(self, prediction: TrackletPrediction) -> bytes:
        """A JSON list of objects with `track_id`, `bbox`, and `score` and `label` if there are."""
        return to_json(write_tracks(prediction.tracks))

    def read_prediction(self, data: bytes, name: str) -> TrackletPrediction:
        """The tracks of such a file; one in the form of the ground truth will do."""
        items = read_json(data, source=name)
        return TrackletPrediction(read_tracks(items, Origin(name, ManifestError)))


def _name(sample: Sample) -> str:
    """A sample with its place, as people look for it."""
    if sample.sequence is None or sample.frame is None:
        return f"sample {sample.id}"
    return f"sample {sample.id} (sequence {sample.sequence}, frame {sample.frame})"


def _drop_doubtful(prediction: TrackletPrediction, least: float) -> Aligned[TrackletPrediction]:
    kept = [track for track in prediction.tracks if _is_sure(track, least)]
    dropped = len(prediction.tracks) - len(kept)
    return Aligned(TrackletPrediction(kept), {"dropped": dropped})


def _is_sure(track: Tracklet, least: float) -> bool:
    return track.scores is None or float(track.scores[0]) >= least
