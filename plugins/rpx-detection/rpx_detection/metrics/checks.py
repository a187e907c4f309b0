"""Signs that predictions are in another convention than they are read in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.state import Sum
from rpx_detection.boxes import Boxes, is_degenerate
from rpx_detection.types import DetectionPrediction, DetectionQuery

MARGIN = 0.02
"""Detectors that do not clip reach a little beyond the image; another scale reaches far."""


@dataclass(frozen=True)
class BoxCounts:
    """Images, their detections, and how many of those are odd in each way."""

    images: Sum
    detections: Sum
    degenerate: Sum
    outside: Sum
    subpixel: Sum
    unknown: Sum


def _sign(summary: str, unit: str = "", *, plausible: tuple[float, float], doubt: str) -> Output:
    return Output(
        better=None,
        unit=unit,
        headline="pooled",
        aggregates=("pooled",),
        plausible=plausible,
        doubt=doubt,
        summary=summary,
    )


class DetectionChecks:
    """Shares of the predicted boxes that hint at a wrong convention rather than at a bad model.

    degenerate: no width or no height, as when xywh is read as xyxy. outside: beyond the image by
    more than 2 % of its side, as with coordinates from 0 to 1000. subpixel: less than a pixel wide
    and high, as with coordinates from 0 to 1. unknown_labels: not in the vocabulary, where the
    query names one. detections_per_image: 0 means that the model answered nothing at all.

    Boxes are (N, 4) x0, y0, x1, y1 in pixels. Raises MetricError where boxes, scores and labels are
    not equally many. Source: mistakes of conversions, no paper.

    Shares are 0 to 1 and undefined without detections; outside is 0 where the sample has no image,
    unknown_labels where it has no vocabulary. No direction is better; a value outside its
    plausible range is a warning in the report.

    Trap: none of these is a metric of quality, and boxes may be wrong without showing here.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = BoxCounts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "detections_per_image": _sign(
                "predicted boxes per image",
                "1/image",
                plausible=(0.001, 1000.0),
                doubt="is the threshold on scores right?",
            ),
            "degenerate": _sign(
                "boxes without area",
                plausible=(0.0, 0.5),
                doubt="are they xywh, or are corners swapped? xyxy was expected",
            ),
            "outside": _sign(
                "boxes that leave the image",
                plausible=(0.0, 0.01),
                doubt="are they in 0 to 1000, or of a resized image? pixels were expected",
            ),
            "subpixel": _sign(
                "boxes below a pixel",
                plausible=(0.0, 0.5),
                doubt="are they in 0 to 1? pixels were expected",
            ),
            "unknown_labels": _sign(
                "labels outside the vocabulary",
                plausible=(0.0, 0.5),
                doubt="are the labels those of the data?",
            ),
        }
    )

    def measure(self, sample: Sample, truth: object, prediction: DetectionPrediction) -> BoxCounts:
        """Counts of one image."""
        boxes = np.asarray(prediction.boxes, np.float64).reshape(-1, 4)
        degenerate = is_degenerate(boxes)
        small = (boxes[:, 2:] - boxes[:, :2] < 1).all(axis=1) & ~degenerate
        return BoxCounts(
            images=1,
            detections=len(boxes),
            degenerate=np.count_nonzero(degenerate),
            outside=_count_outside(boxes, sample),
            subpixel=np.count_nonzero(small),
            unknown=_count_unknown(prediction, sample.query),
        )

    def result(self, state: BoxCounts) -> ResultMap:
        """The rate and the shares."""
        detections = int(state.detections)

        def share(count: Sum) -> float | None:
            return int(count) / detections if detections else None

        return {
            "detections_per_image": detections / int(state.images),
            "degenerate": share(state.degenerate),
            "outside": share(state.outside),
            "subpixel": share(state.subpixel),
            "unknown_labels": share(state.unknown),
        }


def _count_outside(boxes: Boxes, sample: Sample) -> int:
    if sample.rgb is None:
        return 0
    height, width = sample.rgb.shape[:2]
    sides = np.array([width, height, width, height], np.float64)
    beyond = (boxes < -MARGIN * sides) | (boxes > (1 + MARGIN) * sides)
    return int(np.count_nonzero(beyond.any(axis=1)))


def _count_unknown(prediction: DetectionPrediction, query: object) -> int:
    if not isinstance(query, DetectionQuery) or not query.vocabulary:
        return 0
    known = set(query.vocabulary)
    return sum(label not in known for label in prediction.labels)
