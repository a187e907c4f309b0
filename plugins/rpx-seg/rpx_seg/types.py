"""What the segmentation tasks pass around: ground truths, predictions, queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

LabelMap = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SegmentationGroundTruth:
    """`mask` is int32 (H, W): instance ids, 0 for background, -1 for void.

    `labels` names the class of instances where the dataset does. `depth` (H, W) in metres, where
    there is one, is for following surface points from frame to frame.
    """

    mask: LabelMap
    labels: Mapping[int, str] | None = None
    depth: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class SegmentationPrediction:
    """`mask` is int32 (H, W): segment ids, 0 for background, in any numbering.

    `scores` gives confidences, higher is surer, and `labels` class names, by segment id.
    """

    mask: LabelMap
    scores: Mapping[int, float] | None = None
    labels: Mapping[int, str] | None = None


@dataclass(frozen=True, eq=False)
class SegmentationQuery:
    """What a promptable model gets beside the image: true boxes, when the task's options say so.

    `boxes` is (N, 4), xyxy in pixels, half-open; None without prompts.
    """

    boxes: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class SemanticGroundTruth:
    """`mask` is int32 (H, W): class ids, -1 for void.

    `classes` names the ids that may occur, where the dataset does; `void` are the ids that became
    -1. `depth` (H, W) in metres is for following surface points from frame to frame.
    """

    mask: LabelMap
    classes: Mapping[int, str] = field(default_factory=dict)
    void: frozenset[int] = frozenset()
    depth: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class SemanticPrediction:
    """`mask` is int32 (H, W): class ids. As aligned, -1 where the prediction abstains."""

    mask: LabelMap


@dataclass(frozen=True, eq=False)
class SemanticQuery:
    """The classes that a model may answer with, by id; empty where the dataset names none."""

    classes: Mapping[int, str] = field(default_factory=dict)
