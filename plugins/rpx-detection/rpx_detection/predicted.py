"""Predicted boxes as models and files have them, brought into their one canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import as_array, image_size
from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ModelError, kind_of
from rpx_core.magnitudes import PIXELS, find_absurd
from rpx_detection.boxes import MAX_DETECTIONS, Boxes, Layout, Space, to_pixels
from rpx_detection.labels import LabelRule, find_fault, normalise
from rpx_detection.types import DetectionPrediction, VisualGroundingPrediction


@dataclass(frozen=True, eq=False)
class StoredBoxes:
    """Boxes and scores in a declared layout and coordinate space, not looked at yet."""

    boxes: Any
    scores: Any
    layout: Layout = "xyxy"
    space: Space = "pixels"


@dataclass(frozen=True, eq=False)
class StoredDetections(StoredBoxes):
    """The same with labels: text, or indices into the vocabulary of the query."""

    labels: Any = None


def canonical_grounding(stored: StoredBoxes, sample: Sample) -> VisualGroundingPrediction:
    """Own copies in float64 pixels; one box needs no score. Raises ModelError naming the sample."""
    boxes = _boxes(stored, sample)
    scores = stored.scores
    if scores is None and len(boxes) <= 1:
        scores = np.ones(len(boxes))
    return VisualGroundingPrediction(boxes, _scores(scores, len(boxes), sample))


def canonical_detections(
    stored: StoredDetections, sample: Sample, rule: LabelRule, vocabulary: Sequence[str]
) -> DetectionPrediction:
    """The same of detections, whose labels become text in the form of the rule."""
    boxes = _boxes(stored, sample)
    scores = _scores(stored.scores, len(boxes), sample)
    labels = _labels(stored.labels, sample, vocabulary)
    if len(labels) != len(boxes):
        raise ModelError(
            f"sample {sample.id}: {_count(len(boxes), 'box', 'boxes')} but "
            f"{_count(len(labels), 'label', 'labels')}; one label per box was expected"
        )
    return DetectionPrediction(boxes, scores, tuple(normalise(label, rule) for label in labels))


def _boxes(stored: StoredBoxes, sample: Sample) -> Boxes:
    array = _numbers(stored.boxes, "boxes", sample)
    if array.shape == (0,):
        array = array.reshape(0, 4)
    if array.ndim != 2 or array.shape[1] != 4:
        raise ModelError(
            f"sample {sample.id}: predicted boxes have shape {array.shape}; (N, 4) was expected",
            hint="a single box is [[x0, y0, x1, y1]]",
        )
    if not np.isfinite(array).all():
        raise ModelError(f"sample {sample.id}: predicted boxes hold NaN or infinity")
    if len(array) > MAX_DETECTIONS:
        raise ModelError(
            f"sample {sample.id}: {len(array):,} boxes are predicted; at most {MAX_DETECTIONS:,} "
            "are taken",
            hint="keep what non-maximum suppression or a score threshold leaves",
        )
    _refuse_absurd(array, sample)
    if (stored.layout, stored.space) == ("xyxy", "pixels"):
        return array
    size = image_size(sample)
    boxes = to_pixels(array, layout=stored.layout, space=stored.space, size=size)
    _refuse_absurd(boxes, sample)
    return boxes


def _refuse_absurd(boxes: Boxes, sample: Sample) -> None:
    absurd = find_absurd(boxes, PIXELS)
    if absurd is not None:
        raise ModelError(
            f"sample {sample.id}: one of the predicted boxes {absurd}",
            hint="boxes are pixels of the image; is `space` what the model gives?",
        )


def _scores(value: Any, boxes: int, sample: Sample) -> NDArray[np.float64]:
    scores = _numbers(value, "scores", sample)
    if scores.shape != (boxes,):
        raise ModelError(
            f"sample {sample.id}: {_count(boxes, 'box', 'boxes')} but scores of shape "
            f"{scores.shape}; one score per box was expected"
        )
    if not np.isfinite(scores).all():
        raise ModelError(
            f"sample {sample.id}: predicted scores hold NaN or infinity; they cannot be ranked"
        )
    return scores


def _labels(value: Any, sample: Sample, vocabulary: Sequence[str]) -> list[str]:
    labels = value.tolist() if isinstance(value, np.ndarray) else value
    if labels is None:
        labels = []
    if not isinstance(labels, list | tuple):
        raise ModelError(
            f"sample {sample.id}: predicted labels are {kind_of(value)}; a list of class "
            "names was expected"
        )
    if labels and vocabulary and all(type(label) is int for label in labels):
        return _names(labels, sample, vocabulary)
    fault = find_fault(labels)
    if fault:
        raise ModelError(
            f"sample {sample.id}: predicted {fault}",
            hint="class names are text; indices need a vocabulary, in the manifest or as "
            "options.vocabulary",
        )
    return list(labels)


def _names(indices: Sequence[int], sample: Sample, vocabulary: Sequence[str]) -> list[str]:
    for index in indices:
        if not 0 <= index < len(vocabulary):
            raise ModelError(
                f"sample {sample.id}: class index {index} is not one of the {len(vocabulary)} of "
                "the vocabulary",
                hint="indices start at 0",
            )
    return [vocabulary[index] for index in indices]


def _numbers(value: Any, what: str, sample: Sample) -> NDArray[np.float64]:
    """A copy as float64; None is empty."""
    if value is None:
        return np.zeros(0)
    try:
        array = as_array(value, "an array of numbers")
    except AdapterError as error:
        raise ModelError(
            f"sample {sample.id}: predicted {what} are {error.message}", hint=error.hint
        ) from error
    if array.dtype.kind == "b":
        raise ModelError(
            f"sample {sample.id}: predicted {what} have dtype bool; numbers were expected"
        )
    return array.astype(np.float64)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
