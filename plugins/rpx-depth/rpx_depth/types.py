"""What the depth tasks pass around: ground truths, predictions, queries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rpx_depth.pixel_errors import Depth


@dataclass(frozen=True, eq=False)
class DepthGroundTruth:
    """`depth_map` is float32 (H, W) in metres along the optical axis; 0 where nothing counts.

    Nothing counts where nothing was measured, and outside the protocol's crop and depth range.
    """

    depth_map: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class DepthPrediction:
    """`depth_map` is (H, W) in metres, of the truth's size: float32, or float64 once aligned.

    A pixel that is not finite or not positive is no answer. Before an alignment it may be any
    affine function of depth or disparity.
    """

    depth_map: Depth


@dataclass(frozen=True, eq=False)
class DepthQuery:
    """What a stereo model gets beside the image: the rectified right view, where there is one.

    `rgb_right` is uint8 (H, W, 3), `intrinsics_right` 3x3. The right camera stands `baseline_m`
    metres along +x, with the same axes and focal length.
    """

    rgb_right: NDArray[np.uint8] | None = None
    intrinsics_right: NDArray[np.float64] | None = None
    baseline_m: float | None = None


@dataclass(frozen=True, eq=False)
class SparseDepthGroundTruth:
    """Depths at points: `coordinates` (N, 2) x, y in pixels, `depths` (N,) in metres; float64.

    Pixel centres are at whole numbers. A depth of 0 is no truth: nothing was measured there, or
    it lies outside the protocol's depth range.
    """

    coordinates: NDArray[np.float64]
    depths: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SparseDepthPrediction:
    """Predicted depths (M,) in metres at `coordinates` (M, 2) x, y in pixels; float64.

    They need not be the query's: see `match_points`. A depth that is not finite or not positive is
    no answer; before an alignment it may be any affine function of depth or disparity.
    """

    coordinates: NDArray[np.float64]
    depths: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SparseDepthQuery(DepthQuery):
    """The points to predict depth for, (N, 2) x, y in pixels; the right view as in `DepthQuery`."""

    coordinates: NDArray[np.float64] = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class DepthPair:
    """Predicted and true depths of one frame, of equal shapes; truth is 0 where nothing counts."""

    prediction: Depth
    truth: Depth
