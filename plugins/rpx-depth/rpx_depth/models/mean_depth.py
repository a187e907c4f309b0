"""One depth for every pixel: what any model must beat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.adapters import image_size
from rpx_core.contracts import Runtime, Sample
from rpx_depth.types import DepthPrediction


class MeanDepthOptions(BaseModel):
    """`depth_m` is the answer everywhere: about where a table top is seen from by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    depth_m: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class MeanDepth:
    """Answers the same depth for every pixel of every image."""

    task = "monocular_depth"

    def __init__(self, options: MeanDepthOptions) -> None:
        self._depth = options.depth_m

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[DepthPrediction]:
        """A constant map of each image's size."""
        return [
            DepthPrediction(np.full(image_size(sample), self._depth, np.float32))
            for sample in batch
        ]


def load(options: MeanDepthOptions, runtime: Runtime) -> MeanDepth:
    """The model, for any device."""
    return MeanDepth(options)
