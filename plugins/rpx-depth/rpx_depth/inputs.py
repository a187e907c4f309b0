"""What a model needs of a sample, or one error that names the sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError
from rpx_depth.types import SparseDepthQuery


def image_size(sample: Sample) -> tuple[int, int]:
    """Height and width of a sample's image; raises ModelError when it has none."""
    if sample.rgb is None:
        raise ModelError(f"sample {sample.id}: has no image to predict depth for")
    return sample.rgb.shape[0], sample.rgb.shape[1]


def query_points(sample: Sample) -> NDArray[np.float64]:
    """The points (N, 2) x, y to predict depth for; raises ModelError when none are asked for."""
    if not isinstance(sample.query, SparseDepthQuery):
        raise ModelError(
            f"sample {sample.id}: its query is a {type(sample.query).__name__}; this model answers "
            "at the coordinates of a SparseDepthQuery",
            hint="run it for the task sparse_depth",
        )
    return sample.query.coordinates
