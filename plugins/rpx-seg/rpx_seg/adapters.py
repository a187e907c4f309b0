"""From a Python function to a segmentation model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import function_name, image_copy, image_size
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError
from rpx_seg.resize import resize_labels
from rpx_seg.types import SegmentationPrediction, SemanticPrediction

MaskFunction = Callable[[NDArray[np.uint8]], Any]
"""Takes uint8 RGB (H, W, 3), returns whole ids (H', W')."""


class NumpyMaskModel:
    """Calls a function on each image and brings the ids that it returns to the image's size.

    By the nearest pixel: no id is invented. The function may also return a
    `SegmentationPrediction`, which then keeps its scores and labels.
    """

    task = "object_segmentation"

    def __init__(self, function: MaskFunction, name: str) -> None:
        self.name = name
        self._function = function

    def setup(self) -> None:
        """Nothing to load: the function is there."""

    def predict(self, batch: Sequence[Sample]) -> list[SegmentationPrediction]:
        """One mask per image; raises AdapterError when the function returns something else."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> SegmentationPrediction:
        answer = self._function(image_copy(sample))
        if not isinstance(answer, SegmentationPrediction):
            return SegmentationPrediction(fit(answer, sample, self.name))
        mask = fit(answer.mask, sample, self.name)
        return SegmentationPrediction(mask, answer.scores, answer.labels)


class NumpySemanticModel:
    """Calls a function on each image and brings the class ids that it returns to its size."""

    task = "semantic_segmentation"

    def __init__(self, function: MaskFunction, name: str) -> None:
        self.name = name
        self._function = function

    def setup(self) -> None:
        """Nothing to load: the function is there."""

    def predict(self, batch: Sequence[Sample]) -> list[SemanticPrediction]:
        """One class map per image; raises AdapterError when the function returns none."""
        return [
            SemanticPrediction(fit(self._function(image_copy(sample)), sample, self.name))
            for sample in batch
        ]


def fit(answer: Any, sample: Sample, name: str) -> NDArray[Any]:
    """Returned ids at the size of the image; raises AdapterError for anything but ids (H', W')."""
    ids = np.asarray(answer)
    if ids.dtype.kind not in "iub":
        raise AdapterError(
            f"sample {sample.id}: {name} returned {ids.dtype}; whole ids were expected",
            hint="threshold probabilities, or take the argmax over classes",
        )
    if ids.ndim != 2 or ids.size == 0:
        raise AdapterError(
            f"sample {sample.id}: {name} returned shape {ids.shape}; a mask of height x width was "
            "expected",
            hint="drop batch and channel axes, as in mask[0]",
        )
    return resize_labels(ids, image_size(sample))


def wrap(function: MaskFunction, options: None, runtime: Runtime) -> NumpyMaskModel:
    """The function as an instance segmentation model, for the engine."""
    return NumpyMaskModel(function, function_name(function))


def wrap_semantic(function: MaskFunction, options: None, runtime: Runtime) -> NumpySemanticModel:
    """The function as a semantic segmentation model, for the engine."""
    return NumpySemanticModel(function, function_name(function))
