"""From a Python function to a depth model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import (
    FunctionModel,
    as_array,
    function_name,
    image_copy,
    image_size,
    refuse_swapped,
)
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError
from rpx_depth.inputs import query_points
from rpx_depth.resize import resize_depth
from rpx_depth.types import DepthPrediction, SparseDepthPrediction

DepthFunction = Callable[[NDArray[np.uint8]], Any]
"""Takes uint8 RGB (H, W, 3), returns depth in metres (H', W')."""
SparseDepthFunction = Callable[[NDArray[np.uint8], NDArray[np.float64]], Any]
"""Takes uint8 RGB (H, W, 3) and points (N, 2) x, y in pixels, returns depths (N,) in metres."""


class NumpyDepthModel(FunctionModel[DepthPrediction]):
    """Calls a function on each image and brings what it returns to the image's size.

    The image's size is the truth's. Bilinear where all pixels are depths; a pixel that is not
    finite or not positive stays an abstention and mixes with no depth (see `resize_depth`).
    """

    task = "monocular_depth"

    def answer(self, sample: Sample) -> DepthPrediction:
        """One map; raises AdapterError when the function returns something else."""
        returned = self._function(image_copy(sample))
        depth = _metres(returned, f"sample {sample.id}: {self.name}")
        if depth.ndim != 2 or depth.size == 0:
            raise AdapterError(
                f"sample {sample.id}: {self.name} returned shape {depth.shape}; a depth map of "
                "height x width was expected",
                hint="drop batch and channel axes, as in depth[0]",
            )
        size = image_size(sample)
        refuse_swapped(depth.shape, size, f"sample {sample.id}: {self.name}")
        with np.errstate(over="ignore"):
            metres = depth.astype(np.float32)
        return DepthPrediction(resize_depth(metres, size))


class NumpySparseDepthModel(FunctionModel[SparseDepthPrediction]):
    """Calls a function on each image and its query points; it answers point by point."""

    task = "sparse_depth"

    def answer(self, sample: Sample) -> SparseDepthPrediction:
        """Depths at the query's points; AdapterError when the function returns something else."""
        points = query_points(sample)
        # Copies: what the function scribbles on its inputs must not move the answers.
        returned = self._function(image_copy(sample), points.copy())
        depths = _metres(returned, f"sample {sample.id}: {self.name}")
        if depths.shape != (len(points),):
            raise AdapterError(
                f"sample {sample.id}: {self.name} returned shape {depths.shape}; one depth for "
                f"each of {len(points)} points was expected",
                hint="NaN stands for no answer; drop other axes, as in depths[:, 0]",
            )
        return SparseDepthPrediction(points, depths.astype(np.float64))


def wrap_depth(function: DepthFunction, options: None, runtime: Runtime) -> NumpyDepthModel:
    """A function from images to maps as a model, for the engine."""
    return NumpyDepthModel(function, function_name(function))


def wrap_sparse_depth(
    function: SparseDepthFunction, options: None, runtime: Runtime
) -> NumpySparseDepthModel:
    """A function from images and points to depths as a model, for the engine."""
    return NumpySparseDepthModel(function, function_name(function))


def _metres(returned: Any, who: str) -> NDArray[Any]:
    try:
        depth = as_array(returned, "an array of metres")
    except AdapterError as error:
        raise AdapterError(f"{who} returned {error.message}", hint=error.hint) from error
    if depth.dtype.kind != "f":
        raise AdapterError(
            f"{who} returned {depth.dtype}; float metres expected",
            hint="whole numbers are mostly millimetres: divide by 1000",
        )
    return depth
