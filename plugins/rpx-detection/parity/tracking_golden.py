"""Writes tests/data/tracking_golden.json: small sequences with TrackEval's numbers.

    python plugins/rpx-detection/parity/tracking_golden.py

Needs trackeval==1.3.0. The tests read the file, so that they need no TrackEval.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
from tracking_reference import forgets_frames, metrics, to_reference, to_values, under_our_names
from tracking_scenes import Scene, crowded, like_mot17

from rpx_core.atomic import write_atomic
from rpx_core.documents import to_json

TARGET = Path(__file__).parents[1] / "tests/data/tracking_golden.json"
CROWDED = tuple(range(16))
FRAMES = 40


def main() -> None:
    scenes = {f"crowded-{seed}": crowded(seed) for seed in CROWDED}
    scenes["street"] = _first_frames(like_mot17()["MOT17-09"])
    theirs = metrics()
    stored = {}
    sequences = {}
    for name, scene in scenes.items():
        rounded = Scene(scene.frames, scene.truth.round(2), scene.prediction.round(2))
        results = [metric.eval_sequence(to_reference(rounded)) for metric in theirs]
        if not forgets_frames(results):
            stored[name] = results
        sequences[name] = {
            "frames": rounded.frames,
            "truth": rounded.truth.tolist(),
            "prediction": rounded.prediction.tolist(),
            "expected": to_values(results),
        }
    combined = under_our_names(
        [
            metric.combine_sequences({name: results[place] for name, results in stored.items()})
            for place, metric in enumerate(theirs)
        ]
    )
    document = {
        "source": f"trackeval {version('trackeval')}, numpy {np.__version__}, scipy "
        f"{version('scipy')}; parity/tracking_golden.py",
        "rows": "frame from 0, track, x0, y0, x1, y1",
        "sequences": sequences,
        "combined": {"sequences": list(stored), "expected": combined},
    }
    write_atomic(TARGET, to_json(document) + b"\n")
    print(f"{TARGET}: {len(sequences)} sequences, {TARGET.stat().st_size} bytes")


def _first_frames(scene: Scene) -> Scene:
    early = [rows[rows[:, 0] < FRAMES] for rows in (scene.truth, scene.prediction)]
    return Scene(FRAMES, *early)


if __name__ == "__main__":
    main()
