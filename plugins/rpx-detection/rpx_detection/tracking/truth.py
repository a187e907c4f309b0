"""Where the ground truth of a frame comes from: a list of boxes, a MOTChallenge file, or a mask."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rpx_core.documents import read_json
from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.images import decode_labels
from rpx_core.records import Record
from rpx_detection.boxes import MAX_OBJECTS
from rpx_detection.tracking.annotations import Origin, read_detections, read_truth
from rpx_detection.tracking.clip import Ints
from rpx_detection.tracking.mot import MotReader, detections_of_frame, truth_of_frame
from rpx_detection.tracking.types import Detections, Tracklet, TrackletGroundTruth

_TEXT = ".txt"


def load_truth(
    record: Record, files: Files, reader: MotReader, distractors: Collection[int]
) -> TrackletGroundTruth:
    """The ground truth from the first of `tracks`, `boxes` and `mask` that the record has.

    Raises ManifestError when it has none, or when what is there cannot be tracked.
    """
    for key in ("tracks", "boxes"):
        value = record.assets.get(key)
        if isinstance(value, str) and value.endswith(_TEXT):
            return truth_of_frame(reader.read(value, files), record.frame, distractors)
        if value is not None:
            return read_truth(*_list_of(value, record, key, files))
    mask = record.assets.get("mask")
    if isinstance(mask, str):
        instances = decode_labels(files.read(mask), name=mask)
        return TrackletGroundTruth(find_instances(instances.astype(np.int64), mask))
    raise ManifestError(
        f"sample {record.id}: lists no ground truth to track",
        hint="give each frame `boxes` with a `track_id` each, `tracks`, or a `mask` of instances",
    )


def load_detections(record: Record, files: Files, reader: MotReader) -> Detections | None:
    """The detections that the record gives to trackers, if it does."""
    value = record.assets.get("detections")
    if value is None:
        return None
    if isinstance(value, str) and value.endswith(_TEXT):
        return detections_of_frame(reader.read(value, files), record.frame)
    return read_detections(*_list_of(value, record, "detections", files))


def find_instances(mask: Ints, name: str) -> list[Tracklet]:
    """The tight box of every instance in a mask (H, W) of ids, 0 being the background.

    Raises ManifestError, naming the mask, for more than an image may hold.
    """
    rows, columns = np.nonzero(mask)
    names, place = np.unique(mask[rows, columns], return_inverse=True)
    if names.size > MAX_OBJECTS:
        raise ManifestError(
            f"{name}: holds {names.size:,} instances; at most {MAX_OBJECTS:,} are read",
            hint="a mask holds one id for each object; is this a depth map or a picture?",
        )
    tracks = []
    for number, instance in enumerate(names.tolist()):
        y, x = rows[place == number], columns[place == number]
        box = np.array([[x.min(), y.min(), x.max() + 1, y.max() + 1]], np.float64)
        tracks.append(Tracklet(str(instance), box))
    return tracks


def _list_of(value: object, record: Record, key: str, files: Files) -> tuple[object, Origin]:
    """The list of an asset, inline or in a JSON file, and what to call it in errors."""
    if not isinstance(value, str):
        return value, Origin(f"sample {record.id}, {key}")
    items = read_json(files.read(value), source=value)
    return items, Origin(f"sample {record.id}, {value}")
