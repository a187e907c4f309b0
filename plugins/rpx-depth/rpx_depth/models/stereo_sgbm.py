"""Classical stereo: OpenCV's semi-global matching of a rectified pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_core.opencv import require_opencv
from rpx_depth.types import DepthPrediction, DepthQuery

if TYPE_CHECKING:
    import cv2

_CHANNELS = 3
_SUBPIXEL = 16
"""OpenCV stores disparities in sixteenths of a pixel."""


class StereoSgbmOptions(BaseModel):
    """The search: `num_disparities` columns (a multiple of 16) and a block of an odd size.

    The pixels of the first `num_disparities` columns have no full search range and stay unanswered.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_disparities: Annotated[int, Field(ge=16, le=1024, multiple_of=16)] = 64
    block_size: Annotated[int, Field(ge=1, le=21)] = 5


class StereoSgbm:
    """Depth = focal length x baseline / (disparity + doffs), 0 (no answer) where nothing matches.

    doffs is how far the principal points of the two views lie apart, in pixels.
    """

    task = "monocular_depth"

    def __init__(self, options: StereoSgbmOptions) -> None:
        self._options = options
        self._matcher: cv2.StereoSGBM | None = None

    def setup(self) -> None:
        """Set up OpenCV's matcher, with the penalties that its documentation recommends."""
        cv2 = require_opencv("StereoSGBM", "rpx-depth[stereo]")
        area = _CHANNELS * self._options.block_size**2
        self._matcher = cv2.StereoSGBM.create(
            minDisparity=0,
            numDisparities=self._options.num_disparities,
            blockSize=self._options.block_size,
            P1=8 * area,
            P2=32 * area,
            disp12MaxDiff=1,
            uniquenessRatio=10,
            speckleWindowSize=100,
            speckleRange=2,
            mode=cv2.STEREO_SGBM_MODE_SGBM_3WAY,
        )

    def describe(self) -> dict[str, str]:
        """The OpenCV that does the matching."""
        import cv2

        return {"opencv": cv2.__version__}

    def predict(self, batch: Sequence[Sample]) -> list[DepthPrediction]:
        """Depth of each left view; raises ModelError where a sample has no right view."""
        return [DepthPrediction(self._match(sample)) for sample in batch]

    def _match(self, sample: Sample) -> NDArray[np.float32]:
        query = sample.query
        if (
            self._matcher is None
            or not isinstance(query, DepthQuery)
            or sample.rgb is None
            or query.rgb_right is None
            or query.baseline_m is None
            or sample.intrinsics is None
        ):
            raise ModelError(
                f"sample {sample.id}: stereo needs rgb, rgb_right, baseline_m and intrinsics",
                hint="list all four in the manifest; the pair must be rectified",
            )
        disparity = self._matcher.compute(sample.rgb, query.rgb_right) / _SUBPIXEL
        doffs = 0.0
        if query.intrinsics_right is not None:
            doffs = float(query.intrinsics_right[0, 2] - sample.intrinsics[0, 2])
        # OpenCV marks what it cannot match with -1; 0 is the end of the search range, where the
        # match may lie beyond it.
        matched = (disparity > 0) & (disparity + doffs > 0)
        depth = np.zeros(disparity.shape, np.float32)
        depth[matched] = (
            float(sample.intrinsics[0, 0]) * query.baseline_m / (disparity[matched] + doffs)
        )
        return depth


def load(options: StereoSgbmOptions, runtime: Runtime) -> StereoSgbm:
    """The model, on the CPU."""
    return StereoSgbm(options)
