"""The published names of this package, with their published signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rpx_depth.adapters import (
    DepthFunction,
    NumpyDepthModel,
    NumpySparseDepthModel,
    SparseDepthFunction,
)
from rpx_depth.hf_adapters import HFDepthInputAdapter, HFDepthOutputAdapter
from rpx_depth.pixel_errors import Depth
from rpx_depth.published_stability import published_temporal_stability_depth
from rpx_depth.types import (
    DepthGroundTruth,
    DepthPrediction,
    SparseDepthGroundTruth,
    SparseDepthPrediction,
)

if TYPE_CHECKING:
    from rpx_core.inference.model import TorchModel
    from rpx_core.published.readiness import TemporalStabilityResult

__all__ = [
    "DepthGroundTruth",
    "DepthPrediction",
    "HFDepthInputAdapter",
    "HFDepthOutputAdapter",
    "SparseDepthGroundTruth",
    "SparseDepthPrediction",
    "compute_temporal_stability_depth",
    "make_hf_depth_model",
    "make_numpy_depth_model",
    "make_numpy_sparse_depth_model",
]


def make_numpy_depth_model(fn: DepthFunction, *, name: str) -> NumpyDepthModel:
    """A depth model from `fn(rgb)`, which returns (H', W') metres for a uint8 (H, W, 3) image.

    What it returns is resized bilinearly to the ground truth's size, which is the image's.
    """
    return NumpyDepthModel(fn, name)


def make_numpy_sparse_depth_model(fn: SparseDepthFunction, *, name: str) -> NumpySparseDepthModel:
    """A sparse depth model from `fn(rgb, coords)`, which returns (N,) metres.

    `rgb` is uint8 (H, W, 3), `coords` (N, 2) are x (the column) and y in pixels. NaN, zero and
    negative depths are no answers.
    """
    return NumpySparseDepthModel(fn, name)


def compute_temporal_stability_depth(
    depths: Sequence[Depth], poses: Sequence[NDArray[np.float64] | None]
) -> TemporalStabilityResult:
    """The published temporal stability of depth maps in order, with its published sentinels.

    Fewer than two maps score 1 over no pairs, and so does a pair without a common pixel. Poses
    are camera-to-world in the T265 axes of the published loader (y up); None leaves a pair
    unturned. See `published_temporal_stability_depth` for the formula and its traps.
    """
    from rpx_core.published.readiness import TemporalStabilityResult

    scores = published_temporal_stability_depth(depths, poses)
    mean = sum(scores) / len(scores) if scores else 1.0
    return TemporalStabilityResult(ts_score=mean, num_pairs=len(scores), per_pair=list(scores))


def make_hf_depth_model(
    checkpoint: str, *, device: str | None = None, dtype: str | None = None, name: str | None = None
) -> TorchModel:
    """A depth model from any `AutoModelForDepthEstimation` checkpoint, a folder or a hub id.

    `device` is as torch writes it; by default cuda where torch finds it, else cpu. `dtype` is
    float32 (the default), float16 or bfloat16; anything else raises ConfigError. Weights load in
    `setup()`. Of the processor's `post_process_depth_estimation` only those arguments are passed
    that its signature names; the maps have the image's size and are taken for metres.
    """
    from rpx_core.inference.model import TorchModel, outside_runtime
    from rpx_core.parts import check_options
    from rpx_depth.models.hf import HfDepth, HfDepthOptions

    given = {"checkpoint": checkpoint, "dtype": dtype or "float32"}
    options = check_options(HfDepthOptions, given, checkpoint, field_name="make_hf_depth_model")
    runtime = outside_runtime("monocular_depth", device)
    name = name or options.described()
    return TorchModel(HfDepth(options), runtime, options, name=name, like="rpx-depth/hf")
