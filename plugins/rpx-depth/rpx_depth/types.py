"""What the depth task passes around: ground truth, prediction, query."""

from __future__ import annotations

from dataclasses import dataclass

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
