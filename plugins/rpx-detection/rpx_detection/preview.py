"""Pictures of one prediction: what was seen, what is there, what was found, what went wrong."""

from __future__ import annotations

import numpy as np

from rpx_core.contracts import Picture
from rpx_detection.boxes import pairwise_iou
from rpx_detection.confusion import pair_by_place
from rpx_detection.drawing import (
    ERRORS,
    MISSED,
    RIGHT,
    UNCOUNTED,
    WRONG,
    Image,
    Mark,
    as_box,
    colour_of,
    draw,
)
from rpx_detection.evidence import ignored_objects
from rpx_detection.types import (
    DetectionGroundTruth,
    DetectionPrediction,
    VisualGroundingGroundTruth,
    VisualGroundingPrediction,
)

MORE_SHOWN = 4
"""Detections that are drawn beyond one per object, best first; all would hide the image."""
IOU = 0.5


def draw_detections(
    rgb: Image | None, truth: DetectionGroundTruth, prediction: DetectionPrediction
) -> list[Picture]:
    """The image, its objects, its best detections, and the errors among both at IoU 0.5.

    An error is an object that nothing found (dashed), one that got another label, or a detection
    where no object is. Nothing is drawn where there is no image.
    """
    if rgb is None:
        return []
    best = _best(prediction, len(truth.labels) + MORE_SHOWN)
    objects = _objects(truth)
    found = [
        Mark(as_box(box), f"{label} {score:.2g}", colour_of(label))
        for box, score, label in zip(best.boxes, best.scores, best.labels, strict=True)
    ]
    return [
        Picture("rgb", rgb),
        Picture("ground truth", draw(rgb, objects)),
        Picture("prediction", draw(rgb, found)),
        Picture("errors", draw(rgb, _errors(truth, best)), ERRORS),
    ]


def draw_grounding(
    rgb: Image | None, truth: VisualGroundingGroundTruth, prediction: VisualGroundingPrediction
) -> list[Picture]:
    """The image, the expression with what it refers to, and the answer with its overlap."""
    if rgb is None:
        return []
    targets = [Mark(as_box(box), "", RIGHT) for box in truth.boxes]
    answer = []
    if len(prediction.boxes):
        index = int(np.argmax(prediction.scores))
        box = prediction.boxes[index]
        overlap = float(pairwise_iou(box[None], truth.boxes).max(initial=0.0))
        colour = RIGHT if overlap >= IOU else WRONG
        answer = [Mark(as_box(box), f"IoU {overlap:.2f}", colour)]
    said = truth.text if len(truth.boxes) else f"{truth.text} (nothing)"
    missed = [Mark(mark.box, "", MISSED, dashed=True) for mark in targets]
    return [
        Picture("rgb", rgb),
        Picture("ground truth", draw(rgb, targets, said)),
        Picture("prediction", draw(rgb, [*missed, *answer], truth.text)),
    ]


def _objects(truth: DetectionGroundTruth) -> list[Mark]:
    """Crowds and ignored objects are grey: they are neither required nor penalised."""
    count = len(truth.labels)
    crowds = np.zeros(count, np.bool_) if truth.crowd is None else truth.crowd
    marks = []
    for box, label, crowd, ignored in zip(
        truth.boxes, truth.labels, crowds, ignored_objects(truth), strict=True
    ):
        note = " (crowd)" if crowd else " (ignored)" if ignored else ""
        colour = UNCOUNTED if ignored else colour_of(label)
        marks.append(Mark(as_box(box), f"{label}{note}", colour))
    return marks


def _best(prediction: DetectionPrediction, count: int) -> DetectionPrediction:
    order = np.argsort(-prediction.scores, kind="stable")[:count]
    return DetectionPrediction(
        prediction.boxes[order],
        prediction.scores[order],
        [prediction.labels[index] for index in order.tolist()],
    )


def _errors(truth: DetectionGroundTruth, best: DetectionPrediction) -> list[Mark]:
    pairing = pair_by_place(truth, best, IOU, -np.inf)
    marks = []
    for index, partner in zip(pairing.object_rows, pairing.partners, strict=True):
        label = truth.labels[index]
        box = as_box(truth.boxes[index])
        if partner < 0:
            marks.append(Mark(box, f"missed {label}", MISSED, dashed=True))
        elif pairing.detections[partner] != label:
            answer = pairing.detections[partner]
            marks.append(Mark(box, f"{label} called {answer}", WRONG))
        else:
            marks.append(Mark(box, "", RIGHT))
    paired = set(pairing.partners.tolist())
    for place, row in enumerate(pairing.detection_rows):
        if place not in paired:
            marks.append(Mark(as_box(best.boxes[row]), f"no {best.labels[row]}", WRONG))
    return marks
