"""The per-image precision, recall and F1 that the RPX benchmark publishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.outputs import share
from rpx_core.ranking.criteria import reaches
from rpx_core.state import Sum
from rpx_detection.boxes import pairwise_iou
from rpx_detection.evidence import as_text, check_lengths
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction

IOU = 0.5


@dataclass(frozen=True)
class HitCounts:
    """Hits, detections and objects of any number of images."""

    hits: Sum
    detections: Sum
    objects: Sum


def _share(summary: str) -> Output:
    return share(summary, headline="sample", aggregates=("sample", "sample_median"))


class PublishedDetectionF1:
    """Precision, recall and F1 of each image, averaged over images: the published RPX numbers.

    From the highest score down, a detection takes the object of its label that it overlaps most
    (the first of equal ones) among those not taken, and hits if their IoU is at least 0.5.
    precision = hits / detections, recall = hits / objects, f1 = 2PR / (P + R): 0 to 1, higher is
    better, 0 where a denominator is. An image without objects and without detections is undefined;
    the published toolkit counts it as 1, which rewards empty frames. Raises MetricError where
    boxes, (N, 4) x0, y0, x1, y1 in pixels, scores and labels are not equally many.

    Source: the RPX benchmark toolkit, 2026. Traps: this is a mean over images, in which an image
    with one object weighs as much as one with ten; it knows neither crowds nor scores, and its
    matching differs from COCO's where overlaps are equal. `detection-f1` pools instead.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = HitCounts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "precision": _share("detections of an image that are right"),
            "recall": _share("objects of an image that are found"),
            "f1": _share("harmonic mean of the two"),
        }
    )

    def measure(
        self, sample: Sample, truth: DetectionGroundTruth, prediction: DetectionPrediction
    ) -> HitCounts | None:
        """Counts of one image, or None when it holds nothing and nothing was detected."""
        check_lengths(sample, truth, prediction)
        if not len(truth.labels) and not len(prediction.labels):
            return None
        return HitCounts(
            hits=count_hits(truth, prediction),
            detections=len(prediction.labels),
            objects=len(truth.labels),
        )

    def result(self, state: HitCounts) -> ResultMap:
        """The three shares."""
        hits, detections, objects = (
            int(count) for count in (state.hits, state.detections, state.objects)
        )
        return {
            "precision": hits / detections if detections else 0.0,
            "recall": hits / objects if objects else 0.0,
            "f1": 2 * hits / (detections + objects),
        }


def count_hits(truth: DetectionGroundTruth, prediction: DetectionPrediction) -> int:
    """How many detections hit, by the published rule."""
    overlaps = pairwise_iou(
        np.asarray(prediction.boxes, np.float64).reshape(-1, 4),
        np.asarray(truth.boxes, np.float64).reshape(-1, 4),
    )
    _, codes = np.unique(as_text([*prediction.labels, *truth.labels]), return_inverse=True)
    found, wanted = np.split(codes, [len(prediction.labels)])
    overlaps[found[:, None] != wanted[None]] = 0.0
    hits = 0
    for row in np.argsort(-np.asarray(prediction.scores), kind="stable"):
        best = int(np.argmax(overlaps[row])) if overlaps.shape[1] else 0
        if overlaps.shape[1] and reaches(overlaps[row, best], IOU):
            overlaps[:, best] = 0.0
            hits += 1
    return hits
