"""MOTChallenge text files: a sequence per file, a line per box.

A line is `frame, id, left, top, width, height, confidence, class, visibility` in the ground truth
and `frame, id, left, top, width, height, confidence, ...` in results and detections; frames and
pixels count from 1. Here the first pixel is 0, so boxes move by one pixel, back and forth.
"""

from __future__ import annotations

import io
import math
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from rpx_core.documents import read_text
from rpx_core.errors import ManifestError
from rpx_core.files import Files, quote
from rpx_core.magnitudes import PIXELS, find_absurd
from rpx_detection.boxes import MAX_OBJECTS
from rpx_detection.tracking.annotations import Origin, check_unique
from rpx_detection.tracking.clip import Floats, Ints
from rpx_detection.tracking.types import Detections, Tracklet, TrackletGroundTruth

CLASSES = (
    "pedestrian",
    "person_on_vehicle",
    "car",
    "bicycle",
    "motorbike",
    "non_mot_vehicle",
    "static_person",
    "distractor",
    "occluder",
    "occluder_on_ground",
    "occluder_full",
    "reflection",
    "crowd",
)
"""Classes of the ground truth, numbered from 1."""

_FIRST_PIXEL = 1.0
_EXACT = 2.0**53
"""Up to here every whole number is a float."""
_KEPT_FILES = 4


@dataclass(frozen=True, eq=False)
class MotRows:
    """The lines of one file, frames ascending: boxes (n, 4) as half-open `xyxy`, first pixel 0.

    `confidence` is 1 and `category` -1 where the file has no such column.
    """

    name: str
    frame: Ints
    identity: Ints
    box: Floats
    confidence: Floats
    category: Ints

    def of_frame(self, frame: int) -> slice:
        """The lines of one frame."""
        start, end = np.searchsorted(self.frame, (frame, frame + 1)).tolist()
        return slice(start, end)


class MotReader:
    """Parses each text file once, though every frame of its sequence asks for it."""

    def __init__(self) -> None:
        self._parsed: OrderedDict[str, MotRows] = OrderedDict()

    def read(self, name: str, files: Files) -> MotRows:
        """The lines of a listed file; the files used last stay in memory."""
        key = files.digest(name)
        if key not in self._parsed:
            self._parsed[key] = parse_mot(files.read(name), name)
        self._parsed.move_to_end(key)
        while len(self._parsed) > _KEPT_FILES:
            self._parsed.popitem(last=False)
        return self._parsed[key]


def parse_mot(data: bytes, name: str) -> MotRows:
    """The lines of a file; raises ManifestError naming what is no line of this format."""
    table = _parse_numbers(data, name)
    frame, identity = table[:, 0], table[:, 1]
    if not (np.equal(frame, np.round(frame)) & np.equal(identity, np.round(identity))).all():
        raise ManifestError(f"{name}: frame and id, the first two columns, must be whole numbers")
    if (table[:, 4:6] < 0).any():
        row = table[(table[:, 4:6] < 0).any(axis=1)][0]
        raise ManifestError(
            f"{name}: frame {row[0]:.0f}, id {row[1]:.0f} has a negative width or height",
            hint="columns 3 to 6 are left, top, width, height",
        )
    table = table[np.argsort(frame, kind="stable")]
    corner = table[:, 2:4] - _FIRST_PIXEL
    columns = table.shape[1]
    return MotRows(
        name,
        table[:, 0].astype(np.int64),
        table[:, 1].astype(np.int64),
        np.concatenate([corner, corner + table[:, 4:6]], axis=1),
        table[:, 6] if columns > 6 else np.ones(len(table)),
        # Ten columns are a file of MOT15, whose last three are a place in the world.
        table[:, 7].astype(np.int64) if columns in (8, 9) else np.full(len(table), -1),
    )


def truth_of_frame(rows: MotRows, frame: int, distractors: Collection[int]) -> TrackletGroundTruth:
    """The ground truth of one frame, as MOTChallenge judges it.

    What counts are pedestrians whose confidence is not 0. Boxes of the `distractors` classes
    excuse predictions; all others only take part in that matching. A file without classes
    (MOT15) holds nothing but pedestrians, and those of confidence 0 are left out.
    """
    lines = rows.of_frame(frame)
    origin = Origin(f"{rows.name}, frame {frame}")
    boxes = rows.box[lines]
    if len(boxes) > MAX_OBJECTS:
        raise origin.fail(f"holds {len(boxes):,} boxes; at most {MAX_OBJECTS:,} are read")
    tracks: list[Tracklet] = []
    excusing: list[Tracklet] = []
    others: list[Tracklet] = []
    for identity, box, confidence, category in zip(
        rows.identity[lines].tolist(),
        boxes,
        rows.confidence[lines].tolist(),
        rows.category[lines].tolist(),
        strict=True,
    ):
        label = CLASSES[category - 1] if 1 <= category <= len(CLASSES) else None
        track = Tracklet(str(identity), box.reshape(1, 4), label=label)
        if confidence and category in (-1, 1):
            tracks.append(track)
        elif category in distractors:
            excusing.append(track)
        elif category != -1:
            others.append(track)
    for track in tracks:
        if (track.boxes[:, 2:] <= track.boxes[:, :2]).any():
            raise origin.fail(f"the box of track {track.track_id} has no area")
    check_unique(tracks, origin)
    return TrackletGroundTruth(tracks, excusing, others)


def tracks_of_frame(rows: MotRows, frame: int) -> list[Tracklet]:
    """The predicted tracks of one frame; raises ManifestError when an id occurs twice."""
    lines = rows.of_frame(frame)
    tracks = [
        Tracklet(str(identity), box.reshape(1, 4), score.reshape(1))
        for identity, box, score in zip(
            rows.identity[lines].tolist(), rows.box[lines], rows.confidence[lines], strict=True
        )
    ]
    check_unique(tracks, Origin(f"{rows.name}, frame {frame}"))
    return tracks


def detections_of_frame(rows: MotRows, frame: int) -> Detections:
    """The detections of one frame."""
    lines = rows.of_frame(frame)
    boxes = rows.box[lines]
    return Detections(boxes, rows.confidence[lines], [None] * len(boxes))


def _parse_numbers(data: bytes, name: str) -> Floats:
    text = read_text(data, source=name)
    if not text.strip():
        return np.zeros((0, 7))
    delimiter = "," if "," in text else None
    try:
        table = np.loadtxt(io.StringIO(text), np.float64, delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise _bad_line(text, delimiter, name) from error
    if table.shape[1] < 6:
        raise ManifestError(
            f"{name}: has {table.shape[1]} columns; frame, id, left, top, width, height and more "
            "were expected"
        )
    if not np.isfinite(table).all():
        raise _bad_line(text, delimiter, name)
    absurd = find_absurd(table[:, 2:6], PIXELS)
    if absurd is not None:
        raise ManifestError(f"{name}: a box {absurd}")
    if (np.abs(table) > _EXACT).any():
        raise ManifestError(f"{name}: holds numbers beyond 2^53, which are no ids or frames")
    return table


def _bad_line(text: str, delimiter: str | None, name: str) -> ManifestError:
    """What is wrong with the first line that is not as many finite numbers as the line before."""
    columns = None
    for number, line in enumerate(text.splitlines(), 1):
        words = [word.strip() for word in line.partition("#")[0].split(delimiter)]
        if not any(words):
            continue
        odd = [word for word in words if not _is_finite(word)]
        if odd:
            return ManifestError(f"{name}, line {number}: {quote(odd[0])} is no finite number")
        if columns is not None and len(words) != columns:
            return ManifestError(
                f"{name}, line {number}: {len(words)} columns after lines of {columns}"
            )
        columns = len(words)
    return ManifestError(f"{name}: lines of numbers, separated by commas or blanks, were expected")


def _is_finite(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
