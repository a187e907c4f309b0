"""How many matches agree with the true epipolar geometry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.outputs import share
from rpx_core.state import Combine, Sum
from rpx_pose.epipolar import (
    essential_matrix,
    fundamental_matrix,
    rays,
    sampson_distance,
    symmetric_distance,
)
from rpx_pose.relative_errors import SHORTEST_M
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    PairQuery,
)

THRESHOLDS_PX = (1, 3)
NORMALISED = 5e-4

Floats = NDArray[np.float64]
Counts = Annotated[NDArray[np.int64], Combine.SUM]


@dataclass(frozen=True)
class EpipolarCounts:
    """Matches, and those within each threshold: of pixels, and the normalised one last."""

    predictions: Sum
    within: Counts


class EpipolarPrecision:
    """Share of matches that fulfil the epipolar constraint of the true relative pose.

    epipolar_{1,3}px Sampson distance of at most so many pixels, with the intrinsics of both cameras
    · epipolar_5e4 symmetric squared distance below 5·10⁻⁴ in coordinates at depth 1, as SuperGlue
    and LoFTR count precision indoors. All matches, (n, 2) pixels x, y in each image, count,
    wherever they start. 0 to 1, higher is better. Undefined without matches, true pose, or
    intrinsics, and where the cameras do not move apart (no epipolar lines). `sample` averages
    pairs, `pooled` matches. Source: Sampson 1982; Sarlin et al. 2020 (SuperGlue).

    Traps: a match may be wrong along its line, so this is an upper bound; on moving objects right
    matches leave their lines. With the normalised threshold, what is right depends on the focal
    length: 5·10⁻⁴ is 5 px in each image at a focal length of 308 px.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = EpipolarCounts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            name: share(summary, headline="sample")
            for name, summary in (
                ("epipolar_1px", "matches within 1 px of their epipolar lines"),
                ("epipolar_3px", "matches within 3 px of their epipolar lines"),
                ("epipolar_5e4", "matches within 5e-4 normalised (SuperGlue, LoFTR)"),
            )
        }
    )

    def measure(
        self,
        sample: Sample,
        truth: KeypointCorrespondenceGroundTruth,
        prediction: KeypointCorrespondencePrediction,
    ) -> EpipolarCounts | Undefined:
        """Counts over one pair of images, undefined where nothing can be judged."""
        cameras = _cameras(sample)
        relative = truth.relative_pose
        if relative is None:
            return Undefined("the true pose is not known")
        if cameras is None:
            return Undefined("the intrinsics of both cameras are not known")
        if not len(prediction.points0):
            return Undefined("there are no matches")
        if np.linalg.norm(relative.translation) < SHORTEST_M:
            return Undefined("the cameras do not move apart")
        essential = essential_matrix(relative)
        pixels = sampson_distance(
            fundamental_matrix(essential, *cameras), prediction.points0, prediction.points1
        )
        normalised = symmetric_distance(
            essential, rays(prediction.points0, cameras[0]), rays(prediction.points1, cameras[1])
        )
        within = [np.count_nonzero(pixels <= limit) for limit in THRESHOLDS_PX]
        within.append(np.count_nonzero(normalised < NORMALISED))
        return EpipolarCounts(len(pixels), np.array(within, np.int64))

    def result(self, state: EpipolarCounts) -> ResultMap:
        """The shares of one pair of images, or of the pooled matches of many."""
        return {
            name: int(count) / int(state.predictions)
            for name, count in zip(self.outputs, state.within, strict=True)
        }


def _cameras(sample: Sample) -> tuple[Floats, Floats] | None:
    second = sample.query.intrinsics_b if isinstance(sample.query, PairQuery) else None
    if sample.intrinsics is None or second is None:
        return None
    return sample.intrinsics, second
