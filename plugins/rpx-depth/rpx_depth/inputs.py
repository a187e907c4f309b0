"""What a model needs of a sample, or one error that names the sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError, kind_of
from rpx_depth.types import SparseDepthQuery


def query_points(sample: Sample) -> NDArray[np.float64]:
    """The points (N, 2) x, y to predict depth for; raises ModelError when none are asked for."""
    if not isinstance(sample.query, SparseDepthQuery):
        raise ModelError(
            f"sample {sample.id}: its query is {kind_of(sample.query)}; this model answers "
            "at the coordinates of a SparseDepthQuery",
            hint="run it for the task sparse_depth",
        )
    return sample.query.coordinates
