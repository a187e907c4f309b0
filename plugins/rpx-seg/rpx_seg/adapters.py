"""From a Python function to a segmentation model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import (
    FunctionModel,
    function_name,
    image_copy,
    image_size,
    refuse_swapped,
)
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError
from rpx_seg.answers import read_segments
from rpx_seg.resize import resize_labels
from rpx_seg.types import LabelMap, SegmentationPrediction, SemanticPrediction

MaskFunction = Callable[[NDArray[np.uint8]], Any]
"""Takes uint8 RGB (H, W, 3), returns whole ids (H', W')."""
Read = TypeVar("Read")


class NumpyMaskModel(FunctionModel[SegmentationPrediction]):
    """Calls a function on each image and brings the ids that it returns to the image's size.

    By the nearest pixel: no id is invented. What the function may return beside a mask,
    `rpx_seg.answers` says.
    """

    task = "object_segmentation"

    def answer(self, sample: Sample) -> SegmentationPrediction:
        """One mask; raises AdapterError when the function returns something else."""
        answer = self._function(image_copy(sample))
        found = _told(lambda: read_segments(answer), sample, self.name)
        mask = _fit(found.mask, sample, self.name)
        if mask.shape == found.mask.shape:
            return SegmentationPrediction(mask, found.scores, found.labels)
        # What is too small to be left after scaling has nothing to be scored.
        gone = set(np.unique(found.mask).tolist()) - set(np.unique(mask).tolist())
        return SegmentationPrediction(
            mask, _without(found.scores, gone), _without(found.labels, gone)
        )


class NumpySemanticModel(FunctionModel[SemanticPrediction]):
    """Calls a function on each image and brings the class ids that it returns to its size."""

    task = "semantic_segmentation"

    def answer(self, sample: Sample) -> SemanticPrediction:
        """One class map; raises AdapterError when the function returns none."""
        answer = self._function(image_copy(sample))
        mask = _told(lambda: read_segments({"mask": answer}).mask, sample, self.name)
        return SemanticPrediction(_fit(mask, sample, self.name))


def _fit(mask: LabelMap, sample: Sample, name: str) -> LabelMap:
    size = image_size(sample)
    refuse_swapped(mask.shape, size, f"sample {sample.id}: {name}")
    return resize_labels(mask, size)


def _told(read: Callable[[], Read], sample: Sample, name: str) -> Read:
    try:
        return read()
    except AdapterError as error:
        message = f"sample {sample.id}: {name} returned {error.message}"
        raise AdapterError(message, hint=error.hint) from error


def _without(values: Mapping[int, Any] | None, gone: Collection[int]) -> dict[int, Any] | None:
    if values is None:
        return None
    return {segment: value for segment, value in values.items() if segment not in gone}


def wrap(function: MaskFunction, options: None, runtime: Runtime) -> NumpyMaskModel:
    """The function as an instance segmentation model, for the engine."""
    return NumpyMaskModel(function, function_name(function))


def wrap_semantic(function: MaskFunction, options: None, runtime: Runtime) -> NumpySemanticModel:
    """The function as a semantic segmentation model, for the engine."""
    return NumpySemanticModel(function, function_name(function))
