"""What the detection and grounding tasks pass around: ground truth, predictions, queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rpx_detection.boxes import Boxes


@dataclass(frozen=True, eq=False)
class DetectionGroundTruth:
    """`boxes` (N, 4) are half-open xyxy pixels, `labels` the class of each.

    `crowd` (N,) marks regions of many objects, `ignore` (N,) objects that are neither required nor
    penalised; `area` (N,) is the visible area in square pixels, where it is not that of the box.

    Where not every class is annotated, `negative_labels` are those verified to be absent:
    detections of a class that is neither there nor among them do not count. Of
    `not_exhaustive_labels` some objects may lack a box: a detection that misses is no false alarm.
    """

    boxes: Boxes
    labels: Sequence[str]
    crowd: NDArray[np.bool_] | None = None
    ignore: NDArray[np.bool_] | None = None
    area: NDArray[np.float64] | None = None
    negative_labels: frozenset[str] | None = None
    not_exhaustive_labels: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class DetectionPrediction:
    """`boxes` (N, 4) are half-open xyxy pixels; `scores` (N,) are any finite numbers, high is sure.

    Only the order of scores matters to average precision, so they need not lie in 0 to 1.
    """

    boxes: Boxes
    scores: NDArray[np.float64]
    labels: Sequence[str]


@dataclass(frozen=True, eq=False)
class DetectionQuery:
    """What a detector is told: the classes to look for, where the data names them.

    `categories` are the data's own numbers for them, where it has such: COCO's category ids.
    """

    vocabulary: tuple[str, ...] = ()
    categories: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class VisualGroundingGroundTruth:
    """`boxes` (N, 4) of everything that `text` refers to, in half-open xyxy pixels; maybe none."""

    text: str
    boxes: Boxes
    labels: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class VisualGroundingPrediction:
    """`boxes` (N, 4) in half-open xyxy pixels with `scores` (N,); the best-scored is the answer.

    No box says that the text refers to nothing in the image.
    """

    boxes: Boxes
    scores: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroundingQuery:
    """What a grounding model is asked: the expression."""

    text: str
