"""Made-up tracking data: sequences as large and as crowded as MOT17, and small awkward ones."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Frame, Sample
from rpx_detection.tracking.clip import Clip, Tracks, make_clip
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

Floats = NDArray[np.float64]

MOT17 = {
    "MOT17-02": (600, 62, 18581),
    "MOT17-04": (1050, 83, 47557),
    "MOT17-05": (837, 133, 6917),
    "MOT17-09": (525, 26, 5325),
    "MOT17-10": (654, 57, 12839),
    "MOT17-11": (900, 75, 9436),
    "MOT17-13": (750, 110, 11642),
}
"""Frames, tracks and boxes of the training sequences of MOT17."""


@dataclass(frozen=True)
class Scene:
    """A sequence as rows of frame, track id, x0, y0, x1, y1, sorted by frame and id."""

    frames: int
    truth: Floats
    prediction: Floats

    def clip(self) -> Clip:
        """The sequence as the kernels take it."""
        return make_clip(self.frames, to_tracks(self.truth), to_tracks(self.prediction))

    def evidence(self) -> list[Frame]:
        """The sequence as the metrics take it."""
        sides = zip(
            _to_tracklets(self.truth, self.frames),
            _to_tracklets(self.prediction, self.frames),
            strict=True,
        )
        return [
            Frame(Sample(str(number)), TrackletGroundTruth(truth), TrackletPrediction(found))
            for number, (truth, found) in enumerate(sides)
        ]


def to_tracks(rows: Floats) -> Tracks:
    """Rows as one side of a sequence."""
    ids, identity = np.unique(rows[:, 1], return_inverse=True)
    return Tracks(rows[:, 0].astype(np.int64), identity, rows[:, 2:], len(ids))


def like_mot17(seed: int = 7) -> dict[str, Scene]:
    """Seven sequences with the frames, tracks and boxes of MOT17, and a tracker of middling skill.

    It finds 78 % of the boxes, jitters them, changes the id in 0.8 % of them, and adds false
    tracks of four boxes, 12 % of all.
    """
    rng = np.random.default_rng(seed)
    scenes = {}
    for name, (frames, tracks, boxes) in MOT17.items():
        truth = _walk(rng, frames, _lengths(rng, frames, tracks, boxes))
        prediction = _track(rng, frames, truth)
        scenes[name] = Scene(frames, _to_corners(truth), _to_corners(prediction))
    return scenes


def crowded(seed: int) -> Scene:
    """A few frames in which much overlaps and ties; frames without truth, predictions, or both."""
    rng = np.random.default_rng(seed)
    frames, tracks = int(rng.integers(1, 12)), int(rng.integers(0, 7))
    grid = float(rng.choice([0.0, 2.0]))
    start, step = rng.uniform(0, 25, (tracks, 2)), rng.normal(0, 1, (tracks, 2))
    size = rng.uniform(4, 14, (tracks, 2))
    frame, track = np.nonzero(_presence(rng, frames, tracks))
    corner = start[track] + frame[:, None] * step[track]
    truth = np.column_stack([frame, track, corner, corner + size[track]])
    frame, name = np.nonzero(_presence(rng, frames, tracks + int(rng.integers(0, 3))))
    # Some ids change hands halfway, some follow nothing.
    track = (name + (frame > frames // 2) * int(rng.integers(0, 2))) % max(tracks, 1)
    if tracks:
        jitter = rng.normal(0, rng.uniform(0, 2), (len(frame), 2))
        corner = start[track] + frame[:, None] * step[track] + jitter
        found = np.column_stack([frame, name, corner, corner + size[track]])
    else:
        corner = rng.uniform(0, 25, (len(frame), 2))
        found = np.column_stack([frame, name, corner, corner + 8])
    return Scene(frames, _on_grid(truth, grid), _on_grid(found, grid))


def _presence(rng: np.random.Generator, frames: int, tracks: int) -> NDArray[np.bool_]:
    shown: NDArray[np.bool_] = rng.random((frames, tracks)) < rng.uniform(0.3, 1.0)
    shown[rng.random(frames) < 0.15] = False
    return shown


def _on_grid(rows: Floats, grid: float) -> Floats:
    """Corners on multiples of `grid`, where equal overlaps are common; 0 leaves them."""
    rows = rows.astype(np.float64)
    if grid:
        rows[:, 2:4] = np.round(rows[:, 2:4] / grid) * grid
        rows[:, 4:6] = np.maximum(np.round(rows[:, 4:6] / grid) * grid, rows[:, 2:4] + grid)
    return rows


def _to_tracklets(rows: Floats, frames: int) -> list[list[Tracklet]]:
    """The tracks of each frame; ids have five digits, so that text sorts as numbers do."""
    sides: list[list[Tracklet]] = [[] for _ in range(frames)]
    for row in rows:
        sides[int(row[0])].append(Tracklet(f"{int(row[1]):05d}", row[None, 2:]))
    return sides


def _lengths(rng: np.random.Generator, frames: int, tracks: int, boxes: int) -> NDArray[np.int64]:
    """Lengths of the tracks, at least 2 and at most `frames`, of about `boxes` in all."""
    share = rng.gamma(1.5, 1, tracks)
    lengths = np.round(share / share.sum() * boxes).astype(np.int64).clip(2, frames)
    for _ in range(40):
        if lengths.sum() >= boxes:
            break
        free = lengths < frames
        more = 1 + (boxes - lengths.sum()) / lengths[free].sum()
        lengths[free] = np.minimum(frames, np.round(lengths[free] * more))
    return lengths


def _walk(rng: np.random.Generator, frames: int, lengths: NDArray[np.int64]) -> Floats:
    rows = []
    for track, length in enumerate(lengths.tolist()):
        start = rng.integers(0, frames - length + 1)
        height = np.exp(rng.normal(np.log(170), 0.5)).clip(40, 700)
        x = rng.random() * 1700 + np.cumsum(rng.normal(0, 1.2, length) + rng.normal(0, 0.8))
        y = rng.random() * 500 + 300 + np.cumsum(rng.normal(0, 0.6, length))
        size = np.broadcast_to((0.38 * height, height), (length, 2))
        frame = np.arange(start, start + length)
        rows.append(np.column_stack([frame, np.full(length, track), x, y, size]))
    return _sort(np.concatenate(rows))


def _track(rng: np.random.Generator, frames: int, truth: Floats) -> Floats:
    """What the tracker makes of the truth; rows of frame, id, x, y, width, height."""
    found = truth[rng.random(len(truth)) < 0.78].copy()
    height = found[:, 5:]
    found[:, 2:4] += rng.normal(0, 0.05, (len(found), 2)) * height
    found[:, 4:6] *= np.exp(rng.normal(0, 0.06, (len(found), 2)))
    changes = rng.random(len(found)) < 0.008
    current: dict[float, int] = {}
    following = itertools.count()
    for row, change in zip(found, changes, strict=True):
        if change or row[1] not in current:
            current[row[1]] = next(following)
        row[1] = current[row[1]]
    number = int(0.12 * len(found))
    tall = np.exp(rng.normal(np.log(150), 0.5, number))
    names = next(following) + np.arange(number) // 4
    place = rng.random((number, 2)) * (1800, 900)
    false = np.column_stack([rng.integers(0, frames, number), names, place, 0.4 * tall, tall])
    false = false[np.unique(false[:, :2], axis=0, return_index=True)[1]]
    return _sort(np.concatenate([found, false]))


def _to_corners(rows: Floats) -> Floats:
    return np.column_stack([rows[:, :4], rows[:, 2:4] + rows[:, 4:6]])


def _sort(rows: Floats) -> Floats:
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def write_mot_folder(root: Path, scenes: Mapping[str, Scene], seed: int = 0) -> None:
    """A folder as TrackEval expects it: ground truth of all classes, results of one tracker.

    A third of the truth tracks are no pedestrians, and some pedestrians are marked not to count.
    """
    rng = np.random.default_rng(seed)
    results = root / "trackers/MOT17-train/ours/data"
    results.mkdir(parents=True)
    (root / "seqmaps").mkdir()
    (root / "seqmaps/MOT17-train.txt").write_text("\n".join(["name", *scenes, ""]))
    for name, scene in scenes.items():
        folder = root / "MOT17-train" / name
        (folder / "gt").mkdir(parents=True)
        (folder / "seqinfo.ini").write_text(f"[Sequence]\nname={name}\nseqLength={scene.frames}\n")
        tracks = int(scene.truth[:, 1].max(initial=0)) + 1
        category = np.where(rng.random(tracks) < 0.35, rng.integers(2, 14, tracks), 1)
        counts = (rng.random(tracks) < 0.9) & (category == 1)
        track = scene.truth[:, 1].astype(np.int64)
        extra = np.column_stack([counts[track], category[track], np.ones(len(track))])
        _write_rows(folder / "gt/gt.txt", scene.truth, extra)
        rest = np.tile((0.9, -1, -1, -1), (len(scene.prediction), 1))
        _write_rows(results / f"{name}.txt", scene.prediction, rest)


def _write_rows(path: Path, rows: Floats, rest: Floats) -> None:
    """Frames, ids and pixels count from 1; numbers are written so that they read back equal."""
    sizes = rows[:, 4:6] - rows[:, 2:4]
    table = np.column_stack([rows[:, :4] + 1, sizes, rest])
    lines = [",".join(f"{value:.17g}" for value in row) for row in table]
    path.write_text("\n".join([*lines, ""]))
