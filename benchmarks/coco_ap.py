"""How long the twelve COCO numbers take from arrays, against pycocotools, and in how much memory.

    python benchmarks/coco_ap.py [--images 5000] [--detections 180000] [--repeat 3] [--fuzz 60]

Makes a detection set the size of COCO val2017 (5,000 images, 80 classes, 37,000 boxes, 180,000
detections), evaluates it with rpx_detection and, where it is installed, with pycocotools, both in
this process and from the same arrays, and prints medians, their ratio, and the largest
disagreement of the twelve numbers; fails above 1e-12. Peak memory is that of a fresh process that
loads the arrays and evaluates them once (Linux). `--fuzz` compares small sets full of ties as well.

    pip install rpx-core rpx-detection pycocotools==2.0.11
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from timing import compare, largest, make_parser, require_agreement, time_in_turns

TOLERANCE = 1e-12
NAMES = (
    *("ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large"),
    *("ar1", "ar10", "ar100", "ar_small", "ar_medium", "ar_large"),
)

Arrays = Mapping[str, NDArray[Any]]
Numbers = list[float]


def ours(arrays: Arrays) -> Numbers:
    from rpx_core.ranking.ranked_list import DetectionColumns, ObjectColumns
    from rpx_detection.box_batch import box_batch
    from rpx_detection.metrics.average_precision import CocoDetection

    def columns(kind: str, areas: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        boxes = arrays[f"{kind}_boxes"]
        return {
            "images": arrays[f"{kind}_images"],
            "labels": arrays[f"{kind}_labels"],
            "areas": areas,
            "positions": np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1),
        }

    extents, found = (
        boxes[:, 2] * boxes[:, 3] for boxes in (arrays["object_boxes"], arrays["detection_boxes"])
    )
    crowds, scores = arrays["object_crowds"], arrays["detection_scores"]
    batch = box_batch(
        ObjectColumns(**columns("object", arrays["object_areas"]), crowds=crowds, ignored=crowds),
        DetectionColumns(
            **columns("detection", found), scores=scores, excused=np.zeros(len(scores), np.bool_)
        ),
        extents,
        np.arange(int(arrays["classes"])),
        int(arrays["images"]),
    )
    metric = CocoDetection()
    values = metric.result(metric.measure_images(batch))
    return [-1.0 if values[name] is None else float(values[name]) for name in NAMES]


def pycocotools(arrays: Arrays) -> Numbers:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth = COCO()
    truth.dataset = {
        "images": [{"id": index} for index in range(int(arrays["images"]))],
        "categories": [{"id": index} for index in range(int(arrays["classes"]))],
        "annotations": [
            {
                "id": number,
                "image_id": image,
                "category_id": label,
                "bbox": box,
                "area": area,
                "iscrowd": crowd,
            }
            for number, (image, label, box, area, crowd) in enumerate(
                zip(
                    *(arrays[f"object_{key}"].tolist() for key in ("images", "labels", "boxes")),
                    *(arrays[f"object_{key}"].tolist() for key in ("areas", "crowds")),
                    strict=True,
                ),
                1,  # An annotation with the id 0 would count as unmatched.
            )
        ],
    }
    table = np.column_stack(
        [arrays[f"detection_{key}"] for key in ("images", "boxes", "scores", "labels")]
    )
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(table), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return [float(value) for value in evaluation.stats]


def make_set(images: int, detections: int, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Objects as unevenly spread over images, classes and sizes as COCO's, and a middling detector.

    A third of the detections are jittered objects, a quarter repeats of them, the rest is nothing.
    """
    rng = np.random.default_rng(seed)
    classes = 80
    per_image = np.minimum(rng.negative_binomial(1.1, 0.13, images), 63)
    image = np.repeat(np.arange(images), per_image)
    count = len(image)
    common = 1 / np.arange(1, classes + 1) ** 0.75
    common[0] *= 3
    common /= common.sum()
    themes = rng.choice(classes, (images, 3), p=common)
    label = np.where(
        rng.random(count) < 0.8,
        themes[image, rng.integers(0, 3, count)],
        rng.choice(classes, count, p=common),
    )
    boxes = _boxes(rng, count)
    quality = rng.beta(2.2, 1.2, count)
    found = np.flatnonzero(rng.random(count) < 0.55 + 0.43 * quality)
    again = rng.choice(count, count)
    source = np.concatenate([found, again])
    spread = np.concatenate([0.02 + 0.12 * (1 - quality[found]), np.full(count, 0.15)])
    nothing = max(detections - len(source), 0)
    empty = rng.integers(0, images, nothing)
    scores = [quality[found] * rng.uniform(0.7, 1, len(found)), rng.beta(1, 7, count)]
    labels = [label[source], themes[empty, rng.integers(0, 3, nothing)]]
    return {
        "images": np.array(images),
        "classes": np.array(classes),
        "object_images": image,
        "object_labels": label,
        "object_boxes": boxes,
        "object_areas": np.round(boxes[:, 2] * boxes[:, 3] * rng.uniform(0.45, 0.85, count), 4),
        "object_crowds": rng.random(count) < 0.012,
        "detection_images": np.concatenate([image[source], empty]),
        "detection_labels": np.concatenate(labels),
        "detection_boxes": np.concatenate(
            [_jitter(rng, boxes[source], spread), _boxes(rng, nothing)]
        ),
        # Few digits, as detectors write them, so that many scores are equal.
        "detection_scores": np.round(np.concatenate([*scores, rng.beta(0.7, 14, nothing)]), 5),
    }


def make_tied_set(seed: int) -> dict[str, NDArray[Any]]:
    """A small set in which boxes, scores and sizes coincide wherever they can."""
    rng = np.random.default_rng(seed)
    images, classes = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    arrays: dict[str, NDArray[Any]] = {"images": np.array(images), "classes": np.array(classes)}
    for kind, count in (("object", rng.integers(1, 30)), ("detection", rng.integers(1, 60))):
        corner, size = rng.integers(0, 6, (count, 2)) * 8, rng.integers(1, 6, (count, 2)) * 16
        arrays |= {
            f"{kind}_images": rng.integers(0, images, count),
            f"{kind}_labels": rng.integers(0, classes, count),
            f"{kind}_boxes": np.concatenate([corner, size], axis=1).astype(np.float64),
        }
    count = len(arrays["object_images"])
    arrays["object_areas"] = rng.choice([16.0**2, 32.0**2, 96.0**2, 9e3], count)
    arrays["object_crowds"] = rng.random(count) < 0.2
    arrays["detection_scores"] = rng.integers(0, 5, len(arrays["detection_images"])) / 4
    return arrays


def _boxes(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    side = np.exp(rng.normal(np.log(70), 1, count)).clip(4, 470)
    shape = np.exp(rng.normal(0, 0.4, (count, 1)) * [1, -1])
    size = np.minimum(side[:, None] * shape, [639, 479])
    corner = rng.random((count, 2)) * ([640, 480] - size)
    return np.round(np.concatenate([corner, size], axis=1), 2)


def _jitter(
    rng: np.random.Generator, boxes: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.float64]:
    noise = rng.normal(0, 1, boxes.shape) * spread[:, None]
    corner = boxes[:, :2] + noise[:, :2] * boxes[:, 2:]
    return np.round(np.concatenate([corner, boxes[:, 2:] * np.exp(noise[:, 2:])], axis=1), 3)


EVALUATORS: Mapping[str, Callable[[Arrays], Numbers]] = {
    "rpx_detection": ours,
    "pycocotools": pycocotools,
}


def peak_memory(path: Path, name: str) -> float:
    """Peak resident MiB of a process that loads the arrays and evaluates them once."""
    command = [sys.executable, __file__, "--alone", name, "--arrays", str(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(answer.stdout)


def evaluate_alone(path: Path, name: str) -> None:
    with np.load(path) as stored:
        EVALUATORS[name]({key: stored[key] for key in stored.files})
    # Not getrusage: its peak outlives exec, so that of this process's parent would count.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    print(int(peak) / 1024)


def main() -> None:
    parser = make_parser(__doc__, repeat=3)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--detections", type=int, default=180_000)
    parser.add_argument("--fuzz", type=int, default=60, help="small sets full of ties")
    parser.add_argument("--alone", choices=list(EVALUATORS), help=argparse.SUPPRESS)
    parser.add_argument("--arrays", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        evaluate_alone(options.arrays, options.alone)
        return
    names = ["rpx_detection"]
    if importlib.util.find_spec("pycocotools"):
        names.append("pycocotools")
    else:
        print("pycocotools is not installed: pip install pycocotools==2.0.11")
    arrays = make_set(options.images, options.detections)
    ways = {name: partial(EVALUATORS[name], arrays) for name in names}
    print(f"{len(arrays['object_images'])} objects, {len(arrays['detection_images'])} detections")
    found = time_in_turns(ways, options.repeat)
    require_agreement(compare(found, "rpx_detection", largest), TOLERANCE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, **arrays)
        for name in names:
            print(f"  {name:24} {peak_memory(path, name):10.0f} MiB at its peak")
    if len(names) > 1:
        tied = [make_tied_set(seed) for seed in range(options.fuzz)]
        worst = max((largest(ours(one), pycocotools(one)) for one in tied), default=0.0)
        print(f"{len(tied)} small sets full of ties: disagreement {worst:.1e}")
        require_agreement(worst, TOLERANCE)


if __name__ == "__main__":
    main()
