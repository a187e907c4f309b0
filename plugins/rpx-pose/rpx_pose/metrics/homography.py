"""Corner error and matching accuracy where the two images show one plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.errors import MetricError
from rpx_core.state import Cat, Combine, Sum
from rpx_pose.auc import auc_trapezoid
from rpx_pose.homography import corner_error, fit_homography, transfer
from rpx_pose.types import KeypointCorrespondenceGroundTruth, KeypointCorrespondencePrediction

AUC_PX = (3, 5, 10)
ACCURACY_PX = (1, 3, 5)
_NO_MATCHES = Undefined("there are no matches")
_NONE_FITTED = Undefined("no homography fits the matches")

Counts = Annotated[NDArray[np.int64], Combine.SUM]


class HomographyOptions(BaseModel):
    """`threshold_px`: within how many pixels a match follows the homography fitted to matches."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 3.0


@dataclass(frozen=True)
class HomographyEvidence:
    """Corner errors (n,) of n pairs, infinite where none was fitted, and counts of matches."""

    corner_px: Cat
    predictions: Sum
    accurate: Counts


def _share(summary: str, *, pooled: bool = False) -> Output:
    return Output(
        better="higher", best=1.0, worst=0.0, summary=summary,
        headline="pooled" if pooled else "sample",
        aggregates=("pooled", "group") if pooled else ("sample", "pooled", "group"),
    )  # fmt: skip


class HomographyAccuracy:
    """How well matches tell the true homography between two images of a plane.

    corner_error_px mean distance of the four corners of the first image, taken over by the true
    homography and by one fitted to the matches (`fit_homography`, a fixed estimator); lower is
    better · corner_auc{3,5,10} area under the recall curve of that error, trapezoid, a failed fit
    being infinite · corner_within{3,5,10}px share of pairs with at most that error ·
    mma_{1,3,5}px mean matching accuracy, the share of all matches within so many pixels (≤) of
    where the true homography takes their start. Shares: 0 to 1, higher is better.

    Undefined where the truth is no homography; mma without matches; corner_error_px where none is
    fitted, so that its mean leaves those pairs out: read corner_auc beside it.
    Raises MetricError without the first image, whose corners these are. Source: the HPatches
    protocol of SuperPoint (DeTone et al. 2018) and LoFTR (Sun et al. 2021).

    Trap: errors are pixels of the images as they are; published tables resize to 480 first.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = HomographyEvidence
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "corner_error_px": Output(
                better="lower", unit="px", best=0.0, headline="sample",
                aggregates=("sample", "sample_median"), summary="mean error of the four corners",
            ),
            **{
                f"corner_auc{limit}": _share(f"AUC of corner error up to {limit} px", pooled=True)
                for limit in AUC_PX
            },
            **{
                f"corner_within{limit}px": _share(f"pairs with corners within {limit} px")
                for limit in AUC_PX
            },
            **{
                f"mma_{limit}px": _share(f"matches within {limit} px of the true homography")
                for limit in ACCURACY_PX
            },
        }
    )  # fmt: skip

    def __init__(self, options: HomographyOptions) -> None:
        self._threshold = options.threshold_px

    def measure(
        self,
        sample: Sample,
        truth: KeypointCorrespondenceGroundTruth,
        prediction: KeypointCorrespondencePrediction,
    ) -> HomographyEvidence | Undefined:
        """Evidence of one pair of images, undefined without a true homography."""
        if truth.homography is None:
            return Undefined("the truth is no homography")
        if sample.rgb is None:
            raise MetricError(f"sample {sample.id}: corner error needs the first image")
        height, width = sample.rgb.shape[:2]
        points0, points1 = prediction.points0, prediction.points1
        fitted = fit_homography(points0, points1, threshold=self._threshold)
        error = corner_error(truth.homography, fitted, (width, height))
        distance = np.linalg.norm(transfer(truth.homography, points0) - points1, axis=1)
        return HomographyEvidence(
            corner_px=np.array([error]),
            predictions=len(points0),
            accurate=np.array([np.count_nonzero(distance <= px) for px in ACCURACY_PX], np.int64),
        )

    def result(self, state: HomographyEvidence) -> ResultMap:
        """The outputs of one pair of images, or of many."""
        errors = np.asarray(state.corner_px)
        finite = np.sort(errors[np.isfinite(errors)])
        accuracy = {
            f"mma_{px}px": int(count) / int(state.predictions) if state.predictions else _NO_MATCHES
            for px, count in zip(ACCURACY_PX, state.accurate, strict=True)
        }
        return {
            "corner_error_px": float(finite.mean()) if finite.size else _NONE_FITTED,
            **{f"corner_auc{px}": auc_trapezoid(errors, px) for px in AUC_PX},
            **{f"corner_within{px}px": float((errors <= px).mean()) for px in AUC_PX},
            **accuracy,
        }
