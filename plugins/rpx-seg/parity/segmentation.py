"""Our segmentation numbers against those of the tools that people publish with.

    python plugins/rpx-seg/parity/segmentation.py [--images 300]

Needs pycocotools==2.0.11, torch, torchmetrics==1.9.0, scikit-learn, scikit-image and OpenCV 4.
Panoptic quality, which is in no package index, is compared with a plain transcription of
panopticapi. Fails above 1e-12, and unless every count is equal.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import panoptic_reference as reference
from pycocotools import mask as rle
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from scenes import CLASSES, Scene, make_scene
from sklearn.metrics import confusion_matrix

from rpx_core.boundaries import label_boundary, near
from rpx_core.contracts import Sample
from rpx_core.state import fold
from rpx_seg import confusion
from rpx_seg.assignment import assign
from rpx_seg.boundaries import boundary_band, tolerance_px
from rpx_seg.classes import ClassOptions
from rpx_seg.metrics.panoptic import PanopticQuality
from rpx_seg.metrics.precision import MaskAveragePrecision
from rpx_seg.overlaps import LabelPairs, count_pairs, overlap_segments
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

TOLERANCE = 1e-12
BACKGROUND = 100_000
"""Panoptic truth has no background: it stands there as an id that is no segment."""

COCO_OUTPUTS = (
    *("ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large"),
    *("ar1", "ar10", "ar100", "ar_small", "ar_medium", "ar_large"),
)

Values = Mapping[str, float | None]


class Check:
    """Comparisons of one kind and the largest disagreement among them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.worst = 0.0
        self.compared = 0

    def equal(self, ours: float | None, theirs: float | None) -> None:
        """Note how far two numbers are apart; one that only one side has is infinitely far."""
        self.compared += 1
        if ours is None or theirs is None:
            self.worst = max(self.worst, 0.0 if ours is theirs else np.inf)
        else:
            self.worst = max(self.worst, abs(ours - theirs))


def measure(metric: object, scenes: Sequence[Scene]) -> Values:
    """Our pooled outputs."""
    states = [
        metric.measure(  # type: ignore[attr-defined]
            Sample(f"s{number:05d}"),
            SegmentationGroundTruth(scene.truth, scene.truth_labels),
            SegmentationPrediction(scene.prediction, scene.scores, scene.labels),
        )
        for number, scene in enumerate(scenes)
    ]
    total = fold([state for state in states if state is not None])
    values: Values = metric.result(total)  # type: ignore[attr-defined]
    return values


def check_panoptic(scenes: Sequence[Scene]) -> Check:
    check = Check("panoptic quality / panopticapi's algorithm")
    for by_class in (False, True):
        groups = [*([scene] for scene in scenes), scenes]
        for group in groups:
            totals: dict[str, reference.Counts] = {}
            for scene in group:
                truth = np.where(scene.truth == 0, BACKGROUND, scene.truth.clip(0))
                names = [scene.truth_labels, scene.labels]
                if not by_class:
                    names = [dict.fromkeys(known, "thing") for known in names]
                reference.accumulate(
                    totals,
                    truth.astype(np.uint32),
                    scene.prediction.astype(np.uint32),
                    tuple(names),
                )
            ours = measure(PanopticQuality(ClassOptions(by_class=by_class)), group)
            theirs = reference.average(totals)
            for name, value in theirs.items():
                check.equal(0.0 if ours[name] is None else ours[name], value)
    return check


def check_coco(scenes: Sequence[Scene]) -> Check:
    check = Check("mask AP and AR / pycocotools")
    for by_class in (False, True):
        for group in (scenes[:1], scenes[1:4], scenes):
            ours = measure(MaskAveragePrecision(ClassOptions(by_class=by_class)), group)
            theirs = coco_stats(group, by_class=by_class)
            for name, value in zip(COCO_OUTPUTS, theirs, strict=True):
                check.equal(ours[name], None if value == -1 else float(value))
    return check


def coco_stats(scenes: Sequence[Scene], *, by_class: bool) -> Sequence[float]:
    """The twelve numbers of pycocotools; void is a crowd of every class."""
    ids = {name: number for number, name in enumerate(CLASSES if by_class else ("",), start=1)}
    truths, predictions = [], []
    for image, scene in enumerate(scenes, start=1):
        for segment, name in sorted(scene.truth_labels.items()):
            category = ids[name if by_class else ""]
            truths.append(annotation(scene.truth == segment, image, category, crowd=False))
        if (scene.truth == -1).any():
            truths += [
                annotation(scene.truth == -1, image, category, crowd=True)
                for category in ids.values()
            ]
        for segment, name in sorted(scene.labels.items()):
            found = annotation(
                scene.prediction == segment, image, ids[name if by_class else ""], crowd=False
            )
            predictions.append(found | {"score": scene.scores[segment]})
    for number, truth in enumerate(truths, start=1):
        truth["id"] = number
    truth_set = COCO()
    height, width = scenes[0].truth.shape
    truth_set.dataset = {
        "images": [
            {"id": image, "height": height, "width": width} for image in range(1, len(scenes) + 1)
        ],
        "categories": [{"id": number, "name": name} for name, number in ids.items()],
        "annotations": truths,
    }
    with contextlib.redirect_stdout(io.StringIO()):
        truth_set.createIndex()
        evaluation = COCOeval(truth_set, truth_set.loadRes(predictions), "segm")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    stats: Sequence[float] = evaluation.stats
    return stats


def annotation(mask: np.ndarray, image: int, category: int, *, crowd: bool) -> dict[str, object]:
    return {
        "image_id": image,
        "category_id": category,
        "segmentation": rle.encode(np.asfortranarray(mask.astype(np.uint8))),
        "area": int(mask.sum()),
        "iscrowd": int(crowd),
    }


def check_confusion(rng: np.random.Generator, images: int) -> Check:
    check = Check("confusion matrix and IoU / torchmetrics, scikit-learn")
    parts = []
    everything: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    classes = 12
    for _ in range(images):
        truth = rng.integers(-1, classes - 2, (60, 80)).astype(np.int32)
        wrong = rng.random(truth.shape) < 0.3
        prediction = np.where(wrong, rng.integers(0, classes - 1, truth.shape), truth.clip(0))
        parts.append(count_pairs(truth, prediction))
        everything[0].append(truth)
        everything[1].append(prediction)
        compare_confusion(check, (parts[-1:], [truth], [prediction]), classes)
    compare_confusion(check, (parts, *everything), classes)
    return check


def compare_confusion(
    check: Check,
    data: tuple[list[LabelPairs], list[np.ndarray], list[np.ndarray]],
    classes: int,
) -> None:
    import torch
    from torchmetrics.functional.classification import (
        multiclass_confusion_matrix,
        multiclass_jaccard_index,
    )

    parts, truths, predictions = data
    pairs = LabelPairs(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("first", "second", "pixels")
        )
    )
    table = confusion.tabulate(pairs, range(classes))
    truth, prediction = np.stack(truths), np.stack(predictions)
    judged = truth >= 0
    by_sklearn = confusion_matrix(truth[judged], prediction[judged], labels=range(classes))
    tensors = (
        torch.from_numpy(prediction.astype(np.int64)),
        torch.from_numpy(truth.astype(np.int64)),
    )
    by_torch = multiclass_confusion_matrix(*tensors, classes, ignore_index=-1).numpy()
    check.equal(int(np.abs(table.matrix - by_sklearn).max()), 0)
    check.equal(int(np.abs(table.matrix - by_torch).max()), 0)
    # float64 here: torchmetrics divides in float32, good to 7 digits.
    jaccard = multiclass_jaccard_index(*tensors, classes, average="none", ignore_index=-1).numpy()
    ours = confusion.iou(table)
    for value, other in zip(ours, jaccard, strict=True):
        if not np.isnan(value):
            check.equal(round(float(value) - float(other), 6), 0.0)


def check_boundaries(scenes: Sequence[Scene]) -> Check:
    from skimage.morphology import dilation, disk

    check = Check("boundary bands and distances / OpenCV, scikit-image")
    for scene in scenes:
        band = boundary_band(scene.prediction)
        for segment in scene.labels:
            by_erosion = eroded_band((scene.prediction == segment).astype(np.uint8))
            check.equal(int(((band == segment) != (by_erosion > 0)).sum()), 0)
        first, second = label_boundary(scene.truth), label_boundary(scene.prediction)
        radius = tolerance_px(first.shape)
        dilated = first & (dilation(second.astype(np.uint8), disk(radius)) > 0)
        check.equal(int((near(first, second, radius) != dilated).sum()), 0)
    return check


def eroded_band(mask: np.ndarray) -> np.ndarray:
    """The band inside one mask as the authors of Boundary IoU cut it."""
    import cv2

    height, width = mask.shape
    steps = max(1, round(0.02 * np.sqrt(height**2 + width**2)))
    padded = cv2.copyMakeBorder(mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    eroded = cv2.erode(padded, np.ones((3, 3), np.uint8), iterations=steps)
    band: np.ndarray = mask - eroded[1:-1, 1:-1]
    return band


def check_assignment(rng: np.random.Generator, images: int) -> Check:
    check = Check("best assignment / trying all")
    for _ in range(images):
        truth, prediction = rng.integers(0, 6, (2, 8, 8)).astype(np.int32)
        overlaps = overlap_segments(truth, prediction)
        ours = float(overlaps.iou()[assign(overlaps)].sum())
        table = np.zeros((5, 5))
        rows = overlaps.truth_ids[overlaps.rows] - 1
        table[rows, overlaps.prediction_ids[overlaps.columns] - 1] = overlaps.iou()
        best = max(table[range(5), order].sum() for order in itertools.permutations(range(5)))
        check.equal(ours, float(best))
    return check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--images", type=int, default=300)
    images = parser.parse_args().images
    rng = np.random.default_rng(20240)
    scenes = [make_scene(rng, (120, 160), int(rng.integers(1, 14))) for _ in range(images)]
    checks = [
        check_panoptic(scenes),
        check_coco(scenes),
        check_confusion(rng, images // 3),
        check_boundaries(scenes[:50]),
        check_assignment(rng, images),
    ]
    for check in checks:
        print(f"{check.name:58} {check.compared:6} compared, worst {check.worst:.1e}")
    if any(not check.worst <= TOLERANCE for check in checks):
        sys.exit(f"disagreement above {TOLERANCE}")


if __name__ == "__main__":
    main()
