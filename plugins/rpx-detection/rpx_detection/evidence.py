"""From the truth and prediction of one sample to the columns that metrics work on."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import MetricError
from rpx_core.ranking.matching import Flags
from rpx_core.ranking.ranked_list import DetectionColumns, ImageBatch, ObjectColumns
from rpx_detection.box_batch import box_batch
from rpx_detection.boxes import areas_of
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction

AreaSource = Literal["annotation", "box"]


def image_batch(
    sample: Sample,
    truth: DetectionGroundTruth,
    prediction: DetectionPrediction,
    area: AreaSource = "annotation",
) -> ImageBatch:
    """One image as a batch; its classes are those of its objects and detections, sorted.

    Detections of classes that are not annotated here are left out.
    """
    check_lengths(sample, truth, prediction)
    annotated = annotated_detections(truth, prediction)
    names = as_text([*truth.labels, *prediction.labels])
    classes, labels = np.unique(names, return_inverse=True)
    wanted, found = labels[: len(truth.labels)], labels[len(truth.labels) :][annotated]
    boxes = np.asarray(prediction.boxes, np.float64).reshape(-1, 4)[annotated]
    shown = names[len(truth.labels) :][annotated]
    objects, extents = _objects(truth, wanted, area)
    detections = DetectionColumns(
        images=np.zeros(len(boxes), np.intp),
        labels=found,
        areas=areas_of(boxes),
        positions=boxes,
        scores=np.asarray(prediction.scores, np.float64)[annotated],
        excused=np.isin(shown, as_text(sorted(truth.not_exhaustive_labels))),
    )
    return box_batch(objects, detections, extents, classes)


def check_lengths(
    sample: Sample, truth: DetectionGroundTruth, prediction: DetectionPrediction
) -> None:
    """Raise MetricError unless every box has its label, and every predicted one its score."""
    boxes, labels = len(truth.boxes), len(truth.labels)
    if boxes != labels:
        raise MetricError(f"sample {sample.id}: the truth has {boxes} boxes and {labels} labels")
    counts = len(prediction.boxes), len(prediction.scores), len(prediction.labels)
    if len(set(counts)) > 1:
        raise MetricError(
            f"sample {sample.id}: the prediction has {counts[0]} boxes, {counts[1]} scores and "
            f"{counts[2]} labels"
        )


def annotated_detections(truth: DetectionGroundTruth, prediction: DetectionPrediction) -> Flags:
    """Which detections are of a class that is annotated in this image."""
    if truth.negative_labels is None:
        return np.ones(len(prediction.labels), np.bool_)
    known = truth.negative_labels | set(truth.labels)
    return np.array([label in known for label in prediction.labels], np.bool_)


def one_class(batch: ImageBatch) -> ImageBatch:
    """The same boxes, all of one class."""
    return replace(
        batch,
        objects=replace(batch.objects, labels=np.zeros_like(batch.objects.labels)),
        detections=replace(batch.detections, labels=np.zeros_like(batch.detections.labels)),
        classes=as_text(["object"]),
    )


def ignored_objects(truth: DetectionGroundTruth) -> Flags:
    """Which objects are neither required nor penalised: marked so, or a crowd."""
    return _flags(truth.ignore, truth) | _flags(truth.crowd, truth)


def as_text(labels: list[str]) -> NDArray[np.str_]:
    """Labels as an array of text, also when there are none."""
    return np.array(labels, np.str_)


def _objects(
    truth: DetectionGroundTruth, labels: NDArray[np.intp], area: AreaSource
) -> tuple[ObjectColumns, NDArray[np.float64]]:
    """The objects, and the areas of their boxes."""
    boxes = np.asarray(truth.boxes, np.float64).reshape(-1, 4)
    extents = areas_of(boxes)
    annotated = area == "annotation" and truth.area is not None
    objects = ObjectColumns(
        images=np.zeros(len(boxes), np.intp),
        labels=labels,
        areas=np.asarray(truth.area, np.float64) if annotated else extents,
        positions=boxes,
        crowds=_flags(truth.crowd, truth),
        ignored=ignored_objects(truth),
    )
    return objects, extents


def _flags(values: Flags | None, truth: DetectionGroundTruth) -> Flags:
    if values is None:
        return np.zeros(len(truth.labels), np.bool_)
    return np.asarray(values, np.bool_)
