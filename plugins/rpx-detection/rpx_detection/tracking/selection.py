"""From the frames of a sequence to the arrays that are scored: one class, fairly judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np

from rpx_core.errors import MetricError
from rpx_detection.tracking.assignment import assign
from rpx_detection.tracking.clip import EPSILON, Clip, Flags, Floats, Tracks, intersect, make_clip
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

_EXCUSE_IOU = 0.5
_EXCUSE_SHARE = 0.5


def build_clip(
    truths: Sequence[TrackletGroundTruth],
    predictions: Sequence[TrackletPrediction],
    label: str | None,
) -> Clip:
    """The boxes that count, of one class, or of all taken for one where `label` is None.

    Follows TrackEval: predictions are first matched to everything in the truth (IoU of at least
    0.5, largest sum). Those matched to a distractor go, and of the unmatched those of which more
    than half lies in an ignored region. Raises MetricError when a class is asked for and a track
    has no label.
    """
    wanted = _of_class(label)
    truth = pack([wanted(frame.tracks) for frame in truths])
    prediction = pack([wanted(frame.tracks) for frame in predictions])
    if any(frame.distractors or len(frame.ignored_regions) for frame in truths):
        excused = _find_excused(truths, prediction, label)
        prediction = prediction.select(~excused)
    return make_clip(len(truths), truth, prediction)


def find_excused(truth: TrackletGroundTruth, prediction: Sequence[Tracklet]) -> list[bool]:
    """Which predicted tracks of one frame shall not count, whatever their class, in their order."""
    tracks = Tracks(
        np.zeros(len(prediction), np.int64),
        np.arange(len(prediction)),
        _stack([track.boxes for track in prediction]),
        len(prediction),
    )
    return [bool(excused) for excused in _find_excused([truth], tracks, None)]


def pack(frames: Sequence[Sequence[Tracklet]]) -> Tracks:
    """The boxes of one side as arrays; in each frame by track id, so list order does not matter."""
    tracks = list(chain.from_iterable(frames))
    names = [track.track_id for track in tracks]
    codes = {name: code for code, name in enumerate(sorted(set(names)))}
    identity = np.array([codes[name] for name in names], np.int64)
    frame = np.repeat(np.arange(len(frames)), [len(frame) for frame in frames])
    order = np.lexsort((identity, frame))
    box = _stack([track.boxes for track in tracks])
    return Tracks(frame[order], identity[order], box[order], len(codes))


def _of_class(label: str | None) -> Callable[[Iterable[Tracklet]], list[Tracklet]]:
    def select(tracks: Iterable[Tracklet]) -> list[Tracklet]:
        if label is None:
            return list(tracks)
        return [track for track in tracks if _label(track) == label]

    return select


def _label(track: Tracklet) -> str:
    if track.label is None:
        raise MetricError(
            f"track {track.track_id!r} has no label, and the metric's `classes` need one",
            hint="have the tracker label its tracks, or leave `classes` out to score all as one",
        )
    return track.label


def _find_excused(
    truths: Sequence[TrackletGroundTruth], prediction: Tracks, label: str | None
) -> Flags:
    """(n,) which predicted boxes shall not count."""
    frames = [
        [
            *((track, False) for track in truth.tracks),
            *((track, True) for track in truth.distractors),
            *((track, False) for track in truth.bystanders),
        ]
        for truth in truths
    ]
    if label is not None:
        # What has no label excuses predictions of every class.
        frames = [[item for item in frame if item[0].label in (label, None)] for frame in frames]
    everything = _unnamed([[track.boxes for track, _ in frame] for frame in frames])
    excuses = np.array([excuse for frame in frames for _, excuse in frame], np.bool_)
    clip = make_clip(len(truths), everything, prediction)
    pairs = clip.overlaps.select(clip.overlaps.iou >= _EXCUSE_IOU - EPSILON)
    matched = pairs.select(assign(clip, pairs, pairs.iou))
    excused = np.zeros(len(prediction), np.bool_)
    excused[matched.prediction[excuses[matched.truth]]] = True
    inside = _lie_in_regions(truths, prediction)
    inside[matched.prediction] = False
    return excused | inside


def _lie_in_regions(truths: Sequence[TrackletGroundTruth], prediction: Tracks) -> Flags:
    regions = _unnamed([[truth.ignored_regions] for truth in truths])
    found = intersect(len(truths), regions, prediction)
    large = found.area / prediction.areas[found.second] > _EXCUSE_SHARE + EPSILON
    inside = np.zeros(len(prediction), np.bool_)
    inside[found.second[large]] = True
    return inside


def _unnamed(frames: Sequence[Sequence[Floats]]) -> Tracks:
    """Boxes without identity, each a track of its own."""
    counts = [sum(len(boxes) for boxes in frame) for frame in frames]
    box = _stack([boxes for frame in frames for boxes in frame])
    return Tracks(np.repeat(np.arange(len(frames)), counts), np.arange(len(box)), box, len(box))


def _stack(boxes: Sequence[Floats]) -> Floats:
    return np.concatenate([np.zeros((0, 4)), *boxes])
