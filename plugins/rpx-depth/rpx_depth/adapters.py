"""From a Python function to a depth model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError
from rpx_depth.resize import image_size, resize_depth
from rpx_depth.types import DepthPrediction

DepthFunction = Callable[[NDArray[np.uint8]], Any]
"""Takes uint8 RGB (H, W, 3), returns depth in metres (H', W')."""


class NumpyDepthModel:
    """Calls a function on each image and brings what it returns to the image's size.

    The image's size is the truth's. Bilinear where all pixels are depths; a pixel that is not
    finite or not positive stays an abstention and mixes with no depth (see `resize_depth`).
    """

    task = "monocular_depth"

    def __init__(self, function: DepthFunction, name: str) -> None:
        self.name = name
        self._function = function

    def setup(self) -> None:
        """Nothing to load: the function is there."""

    def predict(self, batch: Sequence[Sample]) -> list[DepthPrediction]:
        """One map per image; raises AdapterError when the function returns something else."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> DepthPrediction:
        shape = image_size(sample)
        # A copy: what the function scribbles on its input must not reach the report.
        depth = np.asarray(self._function(np.array(sample.rgb)))
        if depth.dtype.kind != "f":
            raise AdapterError(
                f"sample {sample.id}: {self.name} returned {depth.dtype}; float metres expected",
                hint="whole numbers are mostly millimetres: divide by 1000",
            )
        if depth.ndim != 2 or depth.size == 0:
            raise AdapterError(
                f"sample {sample.id}: {self.name} returned shape {depth.shape}; a depth map of "
                "height x width was expected",
                hint="drop batch and channel axes, as in depth[0]",
            )
        with np.errstate(over="ignore"):
            metres = depth.astype(np.float32)
        return DepthPrediction(resize_depth(metres, shape))


def wrap(function: DepthFunction, options: None, runtime: Runtime) -> NumpyDepthModel:
    """The function as a model, for the engine."""
    return NumpyDepthModel(function, getattr(function, "__name__", type(function).__name__))
