"""Write tests/data/seg_golden.npz and .json: made-up scenes, and what other tools say of them.

    python plugins/rpx-seg/parity/make_golden.py

Needs what segmentation.py beside it needs.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import panoptic_reference as reference
from scenes import Scene, make_scene
from segmentation import BACKGROUND, COCO_OUTPUTS, coco_stats, eroded_band
from sklearn.metrics import confusion_matrix, jaccard_score

DATA = Path(__file__).parents[1] / "tests" / "data"
SCENES = 8
SHAPE = (60, 80)


def panoptic(scenes: list[Scene], *, by_class: bool) -> dict[str, float]:
    totals: dict[str, reference.Counts] = {}
    for scene in scenes:
        truth = np.where(scene.truth == 0, BACKGROUND, scene.truth.clip(0))
        names = [scene.truth_labels, scene.labels]
        if not by_class:
            names = [dict.fromkeys(known, "thing") for known in names]
        reference.accumulate(
            totals, truth.astype(np.uint32), scene.prediction.astype(np.uint32), tuple(names)
        )
    return reference.average(totals)


def coco(scenes: list[Scene], *, by_class: bool) -> dict[str, float]:
    stats = coco_stats(scenes, by_class=by_class)
    return dict(zip(COCO_OUTPUTS, map(float, stats), strict=True))


def semantic(truth: np.ndarray, prediction: np.ndarray) -> dict[str, object]:
    """Over six classes; true -1 is left out."""
    judged = truth >= 0
    pair = truth[judged], prediction[judged]
    return {
        "confusion": confusion_matrix(*pair, labels=range(6)).tolist(),
        "iou": jaccard_score(*pair, labels=range(6), average=None).tolist(),
    }


def main() -> None:
    rng = np.random.default_rng(7)
    scenes = [make_scene(rng, SHAPE, int(rng.integers(3, 9))) for _ in range(SCENES)]
    classes = rng.integers(-1, 6, SHAPE).astype(np.int32)
    answers = np.where(rng.random(SHAPE) < 0.4, rng.integers(0, 6, SHAPE), classes.clip(0))
    arrays = {"classes": classes, "answers": answers.astype(np.int32)}
    bands = []
    for number, scene in enumerate(scenes):
        arrays |= {f"truth{number}": scene.truth, f"prediction{number}": scene.prediction}
        bands.append(
            {
                segment: int(eroded_band((scene.prediction == segment).astype(np.uint8)).sum())
                for segment in scene.labels
            }
        )
    golden = {
        "versions": {name: version(name) for name in ("numpy", "pycocotools", "scikit-learn")},
        "scenes": [
            {"truth_labels": s.truth_labels, "labels": s.labels, "scores": s.scores} for s in scenes
        ],
        "panoptic": {
            "agnostic": panoptic(scenes, by_class=False),
            "by_class": panoptic(scenes, by_class=True),
            "each": [panoptic([scene], by_class=False) for scene in scenes],
        },
        "coco": {
            "agnostic": coco(scenes, by_class=False),
            "by_class": coco(scenes, by_class=True),
        },
        "semantic": semantic(classes, answers),
        "band_pixels": bands,
    }
    np.savez_compressed(DATA / "seg_golden.npz", **arrays)
    (DATA / "seg_golden.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
