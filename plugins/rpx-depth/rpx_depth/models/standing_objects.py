"""Depth of a table and of what stands on it: a plane, with flat figures where objects touch it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rpx_core.contracts import Runtime, Sample
from rpx_depth.models.ground_plane import GroundPlaneOptions, plane_depths
from rpx_depth.table_top import find_standing
from rpx_depth.types import DepthPrediction


class StandingObjectsOptions(GroundPlaneOptions):
    """The plane as `ground-plane` has it. `min_share` of the image is the smallest object; images
    are looked at about `width_px` wide.
    """

    min_share: Annotated[float, Field(gt=0, lt=1)] = 0.0008
    width_px: Annotated[int, Field(ge=16)] = 160


class StandingObjects:
    """The plane's depth, and for each region that stands out from it the depth where it touches it.

    A region stands upright on its lowest pixels and has one depth, as cardboard would: objects get
    jumps of depth at their outlines, without learned weights. What is not on the table is part of
    the plane, and objects that touch in the image are one.
    """

    task = "monocular_depth"

    def __init__(self, options: StandingObjectsOptions) -> None:
        self._options = options

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[DepthPrediction]:
        """Plane and figures of each image."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> DepthPrediction:
        plane = plane_depths(sample, self._options)
        rgb = np.asarray(sample.rgb)
        height, width = rgb.shape[:2]
        step = max(1, width // self._options.width_px)
        small = rgb[::step, ::step]
        least = max(1, round(self._options.min_share * small.shape[0] * small.shape[1]))
        standing = find_standing(small, least)
        # The last row of the image that a row of the small one stands for.
        feet = plane[np.minimum(standing.lowest * step + step - 1, height - 1)]
        labels = standing.labels[np.ix_(np.arange(height) // step, np.arange(width) // step)]
        depth: NDArray[np.float32] = np.where(labels > 0, feet[labels], plane[:, None])
        return DepthPrediction(depth)


def load(options: StandingObjectsOptions, runtime: Runtime) -> StandingObjects:
    """The model, for any device."""
    return StandingObjects(options)
