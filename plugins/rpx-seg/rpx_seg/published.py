"""The published names of this package, with their published signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rpx_seg.adapters import MaskFunction, NumpyMaskModel
from rpx_seg.overlaps import Labels
from rpx_seg.stability import published_temporal_stability_seg
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

if TYPE_CHECKING:
    from rpx_core.published import TemporalStabilityResult

__all__ = [
    "SegmentationGroundTruth",
    "SegmentationPrediction",
    "compute_temporal_stability_seg",
    "make_numpy_mask_model",
]


def make_numpy_mask_model(fn: MaskFunction, *, name: str) -> NumpyMaskModel:
    """A segmentation model from `fn(rgb)`, which returns (H', W') whole instance ids, 0 background.

    What it returns is brought to the ground truth's size, which is the image's, by the nearest
    pixel.
    """
    return NumpyMaskModel(fn, name)


def compute_temporal_stability_seg(
    masks: Sequence[Labels], poses: Sequence[NDArray[np.float64] | None]
) -> TemporalStabilityResult:
    """The published temporal stability of masks in order, with its published sentinels.

    Fewer than two masks score 1 over no pairs, and so does a pair without any id. Poses are
    camera-to-world in the T265 axes of the published loader (y up); None leaves a pair unturned.
    See `published_temporal_stability_seg` for the formula and its traps.
    """
    from rpx_core.published import TemporalStabilityResult

    scores = published_temporal_stability_seg(masks, poses)
    mean = sum(scores) / len(scores) if scores else 1.0
    return TemporalStabilityResult(ts_score=mean, num_pairs=len(scores), per_pair=list(scores))
