"""The published names of this package, with their published signatures."""

from __future__ import annotations

from rpx_seg.adapters import MaskFunction, NumpyMaskModel
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

__all__ = [
    "SegmentationGroundTruth",
    "SegmentationPrediction",
    "make_numpy_mask_model",
]


def make_numpy_mask_model(fn: MaskFunction, *, name: str) -> NumpyMaskModel:
    """A segmentation model from `fn(rgb)`, which returns (H', W') whole instance ids, 0 background.

    What it returns is brought to the ground truth's size, which is the image's, by the nearest
    pixel.
    """
    return NumpyMaskModel(fn, name)
