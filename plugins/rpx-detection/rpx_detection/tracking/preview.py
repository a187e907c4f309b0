"""Pictures of one frame of tracking: the image, who is where, who is said to be, what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rpx_core.contracts import Picture
from rpx_detection.boxes import Boxes, pairwise_iou
from rpx_detection.drawing import (
    ERRORS,
    MISSED,
    RIGHT,
    UNCOUNTED,
    WRONG,
    Image,
    Mark,
    as_box,
    colour_of,
    draw,
)
from rpx_detection.tracking.assignment import solve
from rpx_detection.tracking.selection import find_excused
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

_MATCH_IOU = 0.5


def draw_preview(
    rgb: Image | None, truth: TrackletGroundTruth, prediction: TrackletPrediction
) -> list[Picture]:
    """The image; truth and prediction, each track in the colour of its id; and the errors.

    Errors are those of this frame at IoU 0.5, by the rules of the metrics: predictions that are
    excused by distractors or ignored regions are none, and grey. A track that changes its id has
    another colour in the next frame. Nothing is drawn where there is no image.
    """
    if rgb is None:
        return []
    objects = [
        *(Mark(as_box(box), "ignored", UNCOUNTED) for box in _uncounted(truth)),
        *_in_own_colours(truth.tracks),
    ]
    return [
        Picture("rgb", rgb),
        Picture("ground truth", draw(rgb, objects)),
        Picture("prediction", draw(rgb, _in_own_colours(prediction.tracks))),
        Picture("errors", draw(rgb, _errors(truth, prediction.tracks)), ERRORS),
    ]


def _in_own_colours(tracks: Sequence[Tracklet]) -> list[Mark]:
    return [
        Mark(as_box(track.boxes[0]), track.track_id, colour_of(track.track_id)) for track in tracks
    ]


def _uncounted(truth: TrackletGroundTruth) -> Boxes:
    return np.concatenate([truth.ignored_regions, *(track.boxes for track in truth.distractors)])


def _errors(truth: TrackletGroundTruth, prediction: Sequence[Tracklet]) -> list[Mark]:
    excused = find_excused(truth, prediction)
    counted = [
        track for track, is_excused in zip(prediction, excused, strict=True) if not is_excused
    ]
    iou = pairwise_iou(_stack(truth.tracks), _stack(counted))
    rows, columns = solve(np.where(iou >= _MATCH_IOU, iou, 0.0))
    matched = iou[rows, columns] >= _MATCH_IOU
    found, right = set(rows[matched].tolist()), set(columns[matched].tolist())
    return [
        *(
            Mark(as_box(track.boxes[0]), "not counted", UNCOUNTED)
            for track, is_excused in zip(prediction, excused, strict=True)
            if is_excused
        ),
        *(
            Mark(as_box(track.boxes[0]), "", RIGHT)
            if place in found
            else Mark(as_box(track.boxes[0]), "missed", MISSED, dashed=True)
            for place, track in enumerate(truth.tracks)
        ),
        *(
            Mark(as_box(track.boxes[0]), "false", WRONG)
            for place, track in enumerate(counted)
            if place not in right
        ),
    ]


def _stack(tracks: Sequence[Tracklet]) -> Boxes:
    return np.concatenate([np.zeros((0, 4)), *(track.boxes for track in tracks)])
