"""Compares the COCO numbers with pycocotools on sets made to disagree.

    pip install pycocotools==2.0.11
    python plugins/rpx-detection/parity/coco_boxes.py [--sets 300]

Half of the sets are small and full of ties: boxes on a grid, five scores, areas on the edges of the
size ranges, crowds. The others have free coordinates. Compared are the twelve numbers and every
entry of the precision and recall arrays, with categories in the order of their names; a difference
in any bit fails. `--write FILE` stores the first
sets with their numbers, as the golden file of the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from rpx_core.ranking.means import COCO_RULES
from rpx_core.ranking.ranked_list import DetectionColumns, ImageBatch, ObjectColumns, rank
from rpx_detection.box_batch import box_batch
from rpx_detection.metrics.average_precision import CocoDetection

Set = dict[str, Any]
STORED = 24


def make_set(seed: int) -> Set:
    """Lists of objects [image, class, x, y, w, h, area, crowd] and of detections [..., score]."""
    rng = np.random.default_rng(seed)
    images, classes = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    tied = seed % 2 == 0
    return {
        "images": images,
        "classes": classes,
        "objects": [
            [*place, *box, _area(rng, box, tied=tied), int(rng.random() < 0.2)]
            for place, box in _boxes(rng, int(rng.integers(0, 30)), (images, classes), tied=tied)
        ],
        "detections": [
            [*place, *box, int(rng.integers(0, 5)) / 4 if tied else round(float(rng.normal()), 6)]
            for place, box in _boxes(rng, int(rng.integers(1, 60)), (images, classes), tied=tied)
        ],
    }


def _boxes(
    rng: np.random.Generator, count: int, spans: tuple[int, int], *, tied: bool
) -> list[tuple[list[int], list[float]]]:
    found = []
    for _ in range(count):
        if tied:
            box = [*rng.integers(0, 6, 2) * 8, *rng.integers(1, 6, 2) * 16]
        else:
            box = [*np.round(rng.uniform(0, 60, 2), 2), *np.round(rng.uniform(10, 130, 2), 2)]
        place = [int(rng.integers(span)) for span in spans]
        found.append((place, [float(value) for value in box]))
    return found


def _area(rng: np.random.Generator, box: list[float], *, tied: bool) -> float:
    edges = [16.0**2, 32.0**2, 96.0**2, 9e3]
    return float(rng.choice(edges)) if tied else box[2] * box[3] * float(rng.uniform(0.3, 1))


def evaluate_theirs(one: Set) -> tuple[list[float], Any, Any]:
    """The twelve numbers, precision (T, R, K, A) and recall (T, K, A, M) of pycocotools."""
    truth = COCO()
    keys = ("image_id", "category_id", "bbox", "area", "iscrowd")
    truth.dataset = {
        "images": [{"id": index} for index in range(one["images"])],
        "categories": [{"id": index} for index in range(one["classes"])],
        "annotations": [
            {"id": number, **dict(zip(keys, (*row[:2], row[2:6], *row[6:]), strict=True))}
            for number, row in enumerate(one["objects"], 1)
        ],
    }
    table = np.array([[row[0], *row[2:7], row[1]] for row in one["detections"]])
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(table), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    precision = evaluation.eval["precision"][..., -1]
    return evaluation.stats.tolist(), precision, evaluation.eval["recall"]


def evaluate_ours(one: Set) -> tuple[list[float], Any, Any]:
    """The same of rpx_detection, with -1 for what is undefined."""
    batch = make_batch(one)
    metric = CocoDetection()
    values = metric.result(metric.measure_images(batch))
    numbers = [-1.0 if value is None else float(value) for value in list(values.values())[:12]]
    scores = COCO_RULES.score(rank(batch, COCO_RULES.criteria))
    precision = -np.ones((10, 101, one["classes"], 4))
    recall = -np.ones((10, one["classes"], 4, 3))
    for row, label in enumerate(scores.classes.tolist()):
        for size in np.flatnonzero(scores.objects[row]):
            precision[:, :, label, size] = scores.precision[row, size]
            recall[:, label, size, :] = scores.recall[:, row, size].T
    return numbers, precision, recall


def make_batch(one: Set) -> ImageBatch:
    """The rows of a set as columns."""
    objects, detections = (
        np.array(one[kind], np.float64).reshape(-1, columns)
        for kind, columns in (("objects", 8), ("detections", 7))
    )
    crowds = objects[:, 7] > 0
    return box_batch(
        ObjectColumns(*_columns(objects, objects[:, 6]), crowds, crowds),
        DetectionColumns(
            *_columns(detections, detections[:, 4] * detections[:, 5]),
            detections[:, 6],
            np.zeros(len(detections), np.bool_),
        ),
        objects[:, 4] * objects[:, 5],
        np.arange(one["classes"]),
        one["images"],
    )


def _columns(rows: NDArray[np.float64], areas: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    x, y, width, height = rows[:, 2:6].T
    boxes = np.stack([x, y, x + width, y + height], axis=1)
    return rows[:, 0].astype(np.intp), rows[:, 1].astype(np.intp), areas, boxes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--write", type=Path, help="store the first sets as a golden file")
    options = parser.parse_args()
    golden = []
    for seed in range(options.sets):
        one = make_set(seed)
        theirs, ours = evaluate_theirs(one), evaluate_ours(one)
        for name, expected, found in zip(
            ("numbers", "precision", "recall"), theirs, ours, strict=True
        ):
            if not np.array_equal(expected, found):
                worst = np.abs(np.subtract(expected, found)).max()
                sys.exit(f"set {seed}: {name} differ by up to {worst:.1e}")
        golden.append({**one, "numbers": theirs[0]})
    print(f"{options.sets} sets: every number, precision and recall is equal")
    if options.write:
        origin = (
            f"plugins/rpx-detection/parity/coco_boxes.py with pycocotools "
            f"{version('pycocotools')}, numpy {np.__version__}"
        )
        document = {"origin": origin, "sets": golden[:STORED]}
        options.write.write_text(json.dumps(document) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
