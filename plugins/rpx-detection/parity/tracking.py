"""Our tracking numbers against TrackEval's, field by field.

    python plugins/rpx-detection/parity/tracking.py [--small 2000] [--video vtest.avi]

Needs trackeval==1.3.0, which brings OpenCV. Compares every output of the three metrics, per
sequence and combined: on seven sequences of the size of MOT17; on many small ones full of ties,
gaps and empty frames; on two classes in the same frames, averaged; on a MOTChallenge folder with
distractors, which TrackEval evaluates from its files and we through the layout, the task and its
reader of result files; and, where one is given, on two trackers of a real video (vtest.avi is in
Debian's opencv-doc).

Fails above 1e-9. A number that we call undefined must be one that TrackEval makes up (0 for 0/0,
LocA 1).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import trackeval
from tracking_reference import (
    Results,
    forgets_frames,
    metrics,
    to_reference,
    to_values,
    under_our_names,
)
from tracking_scenes import Scene, crowded, like_mot17, write_mot_folder

from rpx_core.contracts import Frame
from rpx_core.predictions import PredictionFolder
from rpx_core.state import fold
from rpx_detection.tracking.layouts.mot import MotOptions, open_mot
from rpx_detection.tracking.metrics.clear import Clear
from rpx_detection.tracking.metrics.hota import Hota
from rpx_detection.tracking.metrics.identity import Identity
from rpx_detection.tracking.metrics.options import MatchingOptions, TrackingOptions
from rpx_detection.tracking.task import ObjectTracking, ObjectTrackingOptions

TOLERANCE = 1e-9
MADE_UP = {"loca": 1.0, "loca_0": 1.0, "ml_ratio": 1.0}
"""What TrackEval answers where there is nothing to divide by, if not 0."""

Values = Mapping[str, float | None]


class Tally:
    """The largest disagreement so far, and what it is about."""

    def __init__(self) -> None:
        self.worst = 0.0
        self.compared = 0
        self.undefined = 0
        self.problems: list[str] = []

    def compare(self, where: str, ours: Values, theirs: Mapping[str, float]) -> None:
        for name, value in theirs.items():
            mine = ours[name]
            self.compared += 1
            if mine is None:
                self.undefined += 1
                if value not in (0.0, MADE_UP.get(name, 0.0)):
                    self.problems.append(f"{where}: {name} is undefined, TrackEval has {value}")
                continue
            error = abs(mine - value) / max(1.0, abs(value))
            self.worst = max(self.worst, error)
            if not error <= TOLERANCE:
                self.problems.append(f"{where}: {name} is {mine}, TrackEval has {value}")

    def report(self, title: str) -> None:
        print(
            f"{title}: {self.compared} numbers, {self.undefined} undefined, "
            f"largest disagreement {self.worst:.1e}"
        )
        for problem in self.problems[:20]:
            print(" ", problem)


class Ours:
    """Our three metrics, with the classes given, and the states they made."""

    def __init__(self, classes: tuple[str, ...] = ()) -> None:
        matching = MatchingOptions(classes=classes)
        self._metrics: tuple[Any, ...] = (
            Hota(TrackingOptions(classes=classes)),
            Clear(matching),
            Identity(matching),
        )
        self._states: list[list[Any]] = [[], [], []]

    def sequence(self, frames: Sequence[Frame]) -> dict[str, float | None]:
        values: dict[str, float | None] = {}
        for metric, states in zip(self._metrics, self._states, strict=True):
            states.append(metric.measure(frames))
            values |= metric.result(states[-1])
        return values

    def combined(self) -> dict[str, float | None]:
        values: dict[str, float | None] = {}
        for metric, states in zip(self._metrics, self._states, strict=True):
            values |= metric.result(fold(states))
        return values


def compare_scenes(title: str, scenes: Mapping[str, Scene]) -> Tally:
    tally, ours, theirs = Tally(), Ours(), metrics()
    stored: dict[str, list[Results]] = {}
    for name, scene in scenes.items():
        data = to_reference(scene)
        stored[name] = [metric.eval_sequence(data) for metric in theirs]
        tally.compare(name, ours.sequence(scene.evidence()), to_values(stored[name]))
    combined = _combine(theirs, stored)
    if any(map(forgets_frames, stored.values())):
        del combined["fp_per_frame"]
    tally.compare("combined", ours.combined(), combined)
    tally.report(title)
    return tally


def compare_classes(title: str, seeds: Sequence[int]) -> Tally:
    """Two classes over each other in the same frames, scored apart and averaged."""
    tally, theirs = Tally(), metrics()
    for seed in seeds:
        scenes = {"cup": crowded(2 * seed), "box": crowded(2 * seed + 1)}
        frames = max(scene.frames for scene in scenes.values())
        scenes = {k: Scene(frames, scene.truth, scene.prediction) for k, scene in scenes.items()}
        stored = {k: [m.eval_sequence(to_reference(s)) for m in theirs] for k, s in scenes.items()}
        if not all(len(scene.truth) and len(scene.prediction) for scene in scenes.values()):
            continue
        averaged = [
            metric.combine_classes_class_averaged({k: stored[k][place] for k in stored})
            for place, metric in enumerate(theirs)
        ]
        ours = Ours(("cup", "box")).sequence(_label_and_join(scenes))
        kept = {k: v for k, v in under_our_names(averaged).items() if ours[k] is not None}
        # An undefined class takes no part in our average, and counts 0 or 1 in theirs.
        if all(_has_match(results) for results in stored.values()):
            tally.compare(f"seed {seed}", ours, kept)
    tally.report(title)
    return tally


def compare_folder(title: str) -> Tally:
    """A MOT17 folder with every class of ground truth, from files to numbers on both sides."""
    tally, ours = Tally(), Ours()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        write_mot_folder(root, {"MOT17-91": crowded(4), **small_mot17()})
        results = _evaluate_folder(root)
        manifest = open_mot(MotOptions(root=root / "MOT17-train"), root)
        task = ObjectTracking(ObjectTrackingOptions())
        model = PredictionFolder(root / "trackers/MOT17-train/ours/data", task)
        for name, entries in manifest.sequences().items():
            frames = []
            for record in manifest.records(entries):
                sample = task.load(record, manifest.files)
                (answer,) = model.predict([sample])
                frames.append(Frame(sample, sample.ground_truth, task.validate(answer, sample)))
            tally.compare(name, ours.sequence(frames), to_values(_from_table(results[name])))
        combined = under_our_names(_from_table(results["COMBINED_SEQ"]))
        tally.compare("combined", ours.combined(), combined)
    tally.report(title)
    return tally


def small_mot17() -> dict[str, Scene]:
    scenes = like_mot17(11)
    return {name: scenes[name] for name in ("MOT17-05", "MOT17-09")}


def _combine(theirs: Sequence[Any], stored: Mapping[str, Sequence[Results]]) -> dict[str, float]:
    return under_our_names(
        [
            metric.combine_sequences({name: results[place] for name, results in stored.items()})
            for place, metric in enumerate(theirs)
        ]
    )


def _has_match(results: Sequence[Results]) -> bool:
    return bool(results[0]["HOTA_TP"][0] and results[1]["CLR_TP"])


def _label_and_join(scenes: Mapping[str, Scene]) -> list[Frame]:
    """All classes in the same frames; ids of different classes are equal, boxes overlap."""
    joined: list[Frame] = []
    parts = {name: scene.evidence() for name, scene in scenes.items()}
    for frames in zip(*parts.values(), strict=True):
        sides = []
        for side in ("truth", "prediction"):
            tracks = [
                type(track)(f"{name}-{track.track_id}", track.boxes, label=name)
                for name, frame in zip(parts, frames, strict=True)
                for track in getattr(frame, side).tracks
            ]
            sides.append(type(getattr(frames[0], side))(tracks))
        joined.append(Frame(frames[0].sample, *sides))
    return joined


def _evaluate_folder(root: Path) -> Mapping[str, Any]:
    quiet = {"PRINT_CONFIG": False}
    dataset = trackeval.datasets.MotChallenge2DBox(
        quiet
        | {
            "GT_FOLDER": str(root),
            "TRACKERS_FOLDER": str(root / "trackers"),
            "BENCHMARK": "MOT17",
            "SPLIT_TO_EVAL": "train",
        }
    )
    silent = ("PRINT_RESULTS", "TIME_PROGRESS", "OUTPUT_SUMMARY", "OUTPUT_DETAILED", "PLOT_CURVES")
    options = quiet | dict.fromkeys(silent, False) | {"BREAK_ON_ERROR": True}
    with contextlib.redirect_stdout(io.StringIO()):
        found, _ = trackeval.Evaluator(options).evaluate([dataset], list(metrics()))
    results: Mapping[str, Any] = found["MotChallenge2DBox"]["ours"]
    return results


def _from_table(table: Mapping[str, Any]) -> list[Results]:
    classes = table["pedestrian"]
    return [classes["HOTA"], classes["CLEAR"], classes["Identity"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--small", type=int, default=2000, help="number of small sequences")
    parser.add_argument("--video", type=Path, help="a video of people, such as OpenCV's vtest.avi")
    options = parser.parse_args()
    np.seterr(all="raise", under="ignore")
    tallies = [
        compare_scenes("like MOT17", like_mot17()),
        compare_scenes("small", {f"seed {n}": crowded(n) for n in range(options.small)}),
        compare_classes("by class", range(options.small // 4)),
        compare_folder("MOT17 folder"),
    ]
    if options.video:
        from tracking_video import track_video

        tallies.append(compare_scenes("video", {options.video.stem: track_video(options.video)}))
    if any(tally.problems for tally in tallies):
        sys.exit("the implementations disagree")


if __name__ == "__main__":
    main()
