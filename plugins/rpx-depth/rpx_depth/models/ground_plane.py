"""Depth of a plane below the camera: the prior of a robot that looks down at a table or floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.adapters import image_size
from rpx_core.contracts import Runtime, Sample
from rpx_depth.types import DepthPrediction

Metres = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class GroundPlaneOptions(BaseModel):
    """Where the camera is: by default half a metre above a table, looking down at it by 30°.

    `height_m` is above the plane, `pitch_deg` the angle of the optical axis below the horizon.
    Rays that miss the plane, or meet it beyond `far_m`, answer `far_m`. `fov_deg` is the
    horizontal field of view of images that come without intrinsics.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    height_m: Metres = 0.5
    pitch_deg: Annotated[float, Field(ge=-90, le=90)] = 30.0
    far_m: Metres = 2.0
    fov_deg: Annotated[float, Field(gt=0, lt=180)] = 60.0


class GroundPlane:
    """Answers the depth of one plane, whatever the image shows; needs its size and intrinsics."""

    task = "monocular_depth"

    def __init__(self, options: GroundPlaneOptions) -> None:
        self._options = options

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[DepthPrediction]:
        """The plane as each image would see it."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> DepthPrediction:
        _, width = image_size(sample)
        return DepthPrediction(np.repeat(plane_depths(sample, self._options)[:, None], width, 1))


def plane_depths(sample: Sample, options: GroundPlaneOptions) -> NDArray[np.float32]:
    """The plane's depth (H,) in metres at each row of the image."""
    height, width = image_size(sample)
    focal, centre = _vertical_camera(sample, height, width, options.fov_deg)
    pitch = math.radians(options.pitch_deg)
    # A ray (x, y, 1) goes down by y cos + sin per metre of depth, whatever x is.
    slope = (np.arange(height) - centre) / focal * math.cos(pitch) + math.sin(pitch)
    steepest = options.height_m / options.far_m
    rows: NDArray[np.float32] = (options.height_m / np.maximum(slope, steepest)).astype(np.float32)
    return rows


def _vertical_camera(
    sample: Sample, height: int, width: int, fov_deg: float
) -> tuple[float, float]:
    """Focal length and principal row in pixels."""
    if sample.intrinsics is not None:
        return float(sample.intrinsics[1, 1]), float(sample.intrinsics[1, 2])
    return width / 2 / math.tan(math.radians(fov_deg) / 2), (height - 1) / 2


def load(options: GroundPlaneOptions, runtime: Runtime) -> GroundPlane:
    """The model, for any device."""
    return GroundPlane(options)
