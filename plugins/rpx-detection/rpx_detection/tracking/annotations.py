"""Tracks of one frame as lists of objects: in JSON files, and as trackers return them.

An object of the list is `{"track_id", "bbox": [x0, y0, x1, y1], "score"?, "label"?}` in files;
`box` may stand for `bbox`. In the ground truth `"ignore": true` marks a distractor and `"crowd":
true` an ignored region, neither of which needs a `track_id`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ManifestError, RPXError, kind_of
from rpx_core.files import quote
from rpx_core.magnitudes import PIXELS, find_absurd
from rpx_core.spelling import did_you_mean
from rpx_detection.annotations import ENTRY_KEYS
from rpx_detection.boxes import MAX_OBJECTS
from rpx_detection.tracking.types import Detections, Tracklet, TrackletGroundTruth

KEYS = (*ENTRY_KEYS, "box", "score")
"""What an object may hold; some of it is of use to detection alone."""

_CORNERS = "boxes are x0, y0, x1, y1 in pixels, not x, y, width, height"


@dataclass(frozen=True)
class Origin:
    """What is being read, for errors: its name, and the error to raise."""

    name: str
    error: type[RPXError] = ManifestError

    def fail(self, problem: str, hint: str | None = None) -> RPXError:
        """The error that says so."""
        return self.error(f"{self.name}: {problem}", hint=hint)

    def part(self, name: str, place: int) -> Origin:
        """A part of it, counted from 0."""
        return Origin(f"{self.name}, {name} {place}", self.error)


def read_truth(items: object, origin: Origin) -> TrackletGroundTruth:
    """The ground truth that a list of objects describes; raises when one cannot be tracked."""
    tracks: list[Tracklet] = []
    distractors: list[Tracklet] = []
    regions = [np.zeros((0, 4))]
    for place, item in enumerate(_list_objects(items, origin)):
        here = origin.part("box", place)
        crowd = _is_set(item, "crowd", here) or _is_set(item, "iscrowd", here)
        if crowd or _is_set(item, "ignore", here):
            track = _read_track({"track_id": "", **item}, here)
        else:
            track = _read_track(item, here)
            tracks.append(track)
        if (track.boxes[:, 2:] <= track.boxes[:, :2]).any():
            raise here.fail(f"{quote(track.boxes[0].tolist())} has no area", _CORNERS)
        if crowd:
            regions.append(track.boxes)
        elif _is_set(item, "ignore", here):
            distractors.append(track)
    check_unique(tracks, origin)
    return TrackletGroundTruth(tracks, distractors, ignored_regions=np.concatenate(regions))


def read_tracks(items: object, origin: Origin) -> list[Tracklet]:
    """The tracks that a list of objects or of `Tracklet` describes, one box each, ids unique."""
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        raise origin.fail(
            f"is {kind_of(items)}; a list of objects with `track_id` and `box` was expected"
        )
    objects = [_as_object(item) for item in items]
    tracks = [
        _read_track(item, origin.part("track", place))
        for place, item in enumerate(_list_objects(objects, origin))
    ]
    check_unique(tracks, origin)
    return tracks


def read_detections(items: object, origin: Origin) -> Detections:
    """The detections that a list of objects describes; a missing score is 1."""
    found = [
        _read_track({"track_id": "", **item}, origin.part("detection", place))
        for place, item in enumerate(_list_objects(items, origin))
    ]
    scores = [1.0 if item.scores is None else float(item.scores[0]) for item in found]
    return Detections(
        np.concatenate([np.zeros((0, 4)), *(item.boxes for item in found)]),
        np.array(scores, np.float64),
        [item.label for item in found],
    )


def write_tracks(tracks: Sequence[Tracklet]) -> list[dict[str, Any]]:
    """The list of objects that `read_tracks` reads, without loss."""
    return [
        {"track_id": track.track_id, "bbox": track.boxes[0].tolist()}
        | ({} if track.scores is None else {"score": float(track.scores[0])})
        | ({} if track.label is None else {"label": track.label})
        for track in tracks
    ]


def check_unique(tracks: Sequence[Tracklet], origin: Origin) -> None:
    """Raise when two boxes of the frame have the same track id."""
    seen: set[str] = set()
    for track in tracks:
        if track.track_id in seen:
            raise origin.fail(
                f"track id {quote(track.track_id)} occurs twice",
                hint="a track has at most one box in a frame; give each object its own id",
            )
        seen.add(track.track_id)


def _list_objects(items: object, origin: Origin) -> Sequence[Mapping[str, Any]]:
    if not isinstance(items, list | tuple):
        raise origin.fail(f"is {kind_of(items)}; a list of objects was expected")
    if len(items) > MAX_OBJECTS:
        raise origin.fail(f"holds {len(items):,} boxes; at most {MAX_OBJECTS:,} are taken")
    for place, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise origin.part("entry", place).fail(
                f"is {kind_of(item)}; an object with `track_id` and a box was expected"
            )
    return items


def _as_object(item: object) -> object:
    if not isinstance(item, Tracklet):
        return item
    return {
        "track_id": item.track_id,
        "box": item.boxes,
        "score": item.scores,
        "label": item.label,
    }


def _is_set(item: Mapping[str, Any], key: str, origin: Origin) -> bool:
    value = item.get(key)
    if value not in (None, False, True, 0, 1):
        raise origin.fail(f"`{key}` is {quote(value)}; true or false was expected")
    return bool(value)


def _read_track(item: Mapping[str, Any], origin: Origin) -> Tracklet:
    for key in item:
        if key not in KEYS:
            raise origin.fail(
                f"unknown key {quote(key)}",
                hint=did_you_mean(str(key), KEYS) or f"known are {', '.join(KEYS)}",
            )
    label = item.get("label")
    if label is not None and not isinstance(label, str):
        raise origin.fail(f"`label` is {quote(label)}; text was expected")
    return Tracklet(
        _read_id(item, origin), _read_box(item, origin), _read_score(item, origin), label
    )


def _read_id(item: Mapping[str, Any], origin: Origin) -> str:
    value = item.get("track_id")
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    raise origin.fail(
        f"`track_id` is {quote(value)}; text or a whole number was expected",
        hint="every box needs the id of its object, equal in all frames of the sequence",
    )


def _read_box(item: Mapping[str, Any], origin: Origin) -> NDArray[np.float64]:
    value = item.get("bbox", item.get("box"))
    try:
        box = np.array(value, np.float64)
    except (TypeError, ValueError):
        box = np.zeros(0)
    shown = quote(_plain(value))
    if box.shape not in ((4,), (1, 4)):
        raise origin.fail(f"the box is {shown}; four numbers x0, y0, x1, y1 were expected")
    box = box.reshape(1, 4)
    if not np.isfinite(box).all():
        raise origin.fail(f"the box {shown} is not finite")
    absurd = find_absurd(box, PIXELS)
    if absurd is not None:
        raise origin.fail(f"the box {absurd}", "boxes are pixels of the image")
    if (box[:, 2:] < box[:, :2]).any():
        raise origin.fail(f"the box {shown} ends before it begins", _CORNERS)
    return box


def _read_score(item: Mapping[str, Any], origin: Origin) -> NDArray[np.float64] | None:
    value = item.get("score")
    if value is None:
        return None
    try:
        score = np.array(value, np.float64)
    except (TypeError, ValueError):
        score = np.array(math.nan)
    if score.size != 1 or not np.isfinite(score).all():
        raise origin.fail(f"`score` is {quote(_plain(value))}; a finite number was expected")
    return score.reshape(1)


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value
