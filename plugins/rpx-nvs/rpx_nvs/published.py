"""The published names of this package, with their published signatures."""

from __future__ import annotations

from rpx_nvs.adapters import NumpyNvsModel, PoseFrame, ViewFunction
from rpx_nvs.types import (
    NovelViewSynthesisGroundTruth,
    NovelViewSynthesisPrediction,
    NovelViewSynthesisQuery,
)

__all__ = [
    "NovelViewSynthesisGroundTruth",
    "NovelViewSynthesisPrediction",
    "NovelViewSynthesisQuery",
    "make_numpy_nvs_model",
]


def make_numpy_nvs_model(
    fn: ViewFunction, *, name: str, pose: PoseFrame = "relative"
) -> NumpyNvsModel:
    """A view synthesis model from `fn(rgb, target_pose)`, which returns RGB (H', W', 3).

    `target_pose` is 4x4, in the axes of the source camera, x_source = target_pose · x_target; with
    `pose="absolute"` it is camera to world. OpenCV axes, metres. What the function returns is
    brought to 8 bits, clipped and rounded, and resized bilinearly to the target's size.
    """
    return NumpyNvsModel(fn, name, pose)
