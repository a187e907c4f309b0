"""How long HOTA, CLEAR and identity take on a data set of the size of MOT17, against TrackEval.

    python benchmarks/tracking.py [--repeat 7]

Seven made-up sequences with the frames, tracks and boxes of MOT17's training set: 5316 frames,
112 290 true and 97 965 predicted boxes. Both start from the ids and boxes of each frame as arrays
in memory, and find the overlaps themselves. `metric classes` starts from what a run holds, a
`Tracklet` per box, and gathers and matches anew for each of the three metrics, as the engine does.
All run in this process on one BLAS thread, taking turns, so that ratios hold when the machine is
busy. Prints medians, ratios, and the largest disagreement; fails above 1e-9, or below five times
TrackEval's speed. Needs trackeval==1.3.0.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

# Read by OpenBLAS when numpy is first imported, hence before it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "plugins/rpx-detection/parity"))

import numpy as np
from numpy.typing import NDArray
from timing import compare, make_parser, require_agreement, time_in_turns
from tracking_reference import metrics, reference_data, split_frames, under_our_names
from tracking_scenes import Scene, like_mot17

from rpx_core.contracts import Frame
from rpx_core.state import fold
from rpx_detection.tracking.clear import measure_clear, summarize_clear
from rpx_detection.tracking.clip import Tracks, make_clip
from rpx_detection.tracking.hota import measure_hota, summarize_hota
from rpx_detection.tracking.identity import measure_identity, summarize_identity
from rpx_detection.tracking.metrics.clear import Clear
from rpx_detection.tracking.metrics.hota import Hota
from rpx_detection.tracking.metrics.identity import Identity
from rpx_detection.tracking.metrics.options import MatchingOptions, TrackingOptions

Values = Mapping[str, float | None]
Arrays = tuple[Sequence[NDArray[np.float64]], Sequence[NDArray[np.int64]]]
"""Boxes and ids of each frame."""

TOLERANCE = 1e-9
LEAST_RATIO = 5.0


@dataclass(frozen=True)
class Recording:
    """One sequence in every form that an implementation starts from."""

    scene: Scene
    truth: Arrays
    prediction: Arrays
    frames: Sequence[Frame]


def ours(sequences: Sequence[Recording]) -> Values:
    """The kernels, from arrays per frame."""
    states = []
    for one in sequences:
        clip = make_clip(one.scene.frames, gather(one.truth), gather(one.prediction))
        states.append((measure_hota(clip), measure_clear(clip, 0.5), measure_identity(clip, 0.5)))
    hota, clear, identity = (fold(list(column)) for column in zip(*states, strict=True))
    return {**summarize_hota(hota), **summarize_clear(clear), **summarize_identity(identity)}


def gather(arrays: Arrays) -> Tracks:
    boxes, ids = arrays
    frame = np.repeat(np.arange(len(ids)), [len(some) for some in ids])
    names, identity = np.unique(np.concatenate(ids), return_inverse=True)
    return Tracks(frame, identity, np.concatenate(boxes), len(names))


def metric_classes(sequences: Sequence[Recording]) -> Values:
    """The metrics, from a `Tracklet` per box."""
    values: dict[str, float | None] = {}
    for metric in (Hota(TrackingOptions()), Clear(MatchingOptions()), Identity(MatchingOptions())):
        states = [metric.measure(one.frames) for one in sequences]
        values |= metric.result(fold(states))
    # A count of ours alone, which the kernels do not make.
    del values["sequences_without_match"]
    return values


def trackeval(sequences: Sequence[Recording]) -> Values:
    """TrackEval's three metrics and its way to combine sequences."""
    theirs = metrics()
    stored = {}
    for number, one in enumerate(sequences):
        data = reference_data(one.scene, one.truth, one.prediction)
        stored[number] = [metric.eval_sequence(data) for metric in theirs]
    return under_our_names(
        [
            metric.combine_sequences({n: results[place] for n, results in stored.items()})
            for place, metric in enumerate(theirs)
        ]
    )


def prepare() -> list[Recording]:
    return [
        Recording(
            scene,
            split_frames(scene.truth, scene.frames),
            split_frames(scene.prediction, scene.frames),
            scene.evidence(),
        )
        for scene in like_mot17().values()
    ]


def disagreement(reference: Values, values: Values) -> float:
    pairs = [(values[name], value) for name, value in reference.items()]
    return max(
        abs(a - b) / max(1.0, abs(b)) if a is not None and b is not None else float("inf")
        for a, b in pairs
    )


def main() -> None:
    options = make_parser(__doc__, repeat=7).parse_args()
    sequences = prepare()
    implementations: dict[str, Callable[[Sequence[Recording]], Values]] = {
        "rpx_detection": ours,
        "metric classes": metric_classes,
        "TrackEval": trackeval,
    }
    ways = {name: partial(measure, sequences) for name, measure in implementations.items()}
    # The warm-up: scipy is imported by the first call.
    time_in_turns(ways, 1)
    found = time_in_turns(ways, options.repeat)
    require_agreement(compare(found, "rpx_detection", disagreement), TOLERANCE)
    ratio = found["TrackEval"].milliseconds / found["rpx_detection"].milliseconds
    if not ratio >= LEAST_RATIO:
        sys.exit(f"less than {LEAST_RATIO:g} times as fast as TrackEval")


if __name__ == "__main__":
    main()
