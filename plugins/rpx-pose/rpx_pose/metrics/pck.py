"""PCK at a threshold relative to the image or to the extent of the true points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.errors import MetricError
from rpx_core.state import Sum
from rpx_pose.matching import GATE_PX, TrueMatches, judge_matches
from rpx_pose.metrics.matches import NONE_VISIBLE
from rpx_pose.pck import count_correct, extent, relative_threshold
from rpx_pose.types import KeypointCorrespondenceGroundTruth, KeypointCorrespondencePrediction


class PckOptions(BaseModel):
    """The threshold is `alpha` times the longer side of the second `image`, or of the smallest box
    round the visible true `points` in it. `gate_px` is as for `keypoint-matches`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    alpha: Annotated[float, Field(gt=0, le=1)] = 0.1
    normaliser: Literal["points", "image"] = "points"
    gate_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] = GATE_PX


@dataclass(frozen=True)
class PckCounts:
    """Visible points, those within their image's threshold, and the thresholds of all images."""

    images: Sum
    visible: Sum
    correct: Sum
    threshold_px: Sum


class RelativePck:
    """pck: share of visible true points with a match within alpha · max(width, height) pixels (≤).

    Points are (n, 2) pixels x, y. Width and height are those of the normaliser; errors are those of
    `keypoint-matches`, infinite for a point that no match starts near. 0 to 1, higher is better;
    threshold_px is the threshold, averaged over images. Undefined without visible points, and where
    their box has no extent; raises MetricError where the second image is the normaliser and is not
    there. `sample` averages images, `pooled` points. Source: Yang and Ramanan 2013; SPair-71k.

    Trap: PCK by image and by object box, and with < or ≤, are all called PCK.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = PckCounts
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "pck": Output(
                better="higher", best=1.0, worst=0.0,
                summary="visible points within a share of the normaliser's longer side",
            ),
            "threshold_px": Output(
                better=None, unit="px", aggregates=("sample",), summary="mean threshold"
            ),
        }
    )  # fmt: skip

    def __init__(self, options: PckOptions) -> None:
        self._options = options

    def measure(
        self,
        sample: Sample,
        truth: KeypointCorrespondenceGroundTruth,
        prediction: KeypointCorrespondencePrediction,
    ) -> PckCounts | Undefined:
        """Counts over one pair of images, undefined where there is no threshold."""
        true = TrueMatches(truth.points0, truth.points1, truth.visible())
        if not true.visible.any():
            return NONE_VISIBLE
        if self._options.normaliser == "points":
            width, height = extent(true.points1[true.visible])
        else:
            width, height = _image_size(sample)
        threshold = relative_threshold(self._options.alpha, width, height)
        if threshold == 0:
            return Undefined("the visible true points have no extent")
        found = judge_matches(
            true, prediction.points0, prediction.points1, gate=self._options.gate_px
        )
        return PckCounts(
            images=1,
            visible=found.recalled.size,
            correct=count_correct(found.recalled, threshold),
            threshold_px=threshold,
        )

    def result(self, state: PckCounts) -> ResultMap:
        """Both outputs for one pair of images, or for the pooled points of many."""
        return {
            "pck": int(state.correct) / int(state.visible),
            "threshold_px": float(state.threshold_px) / int(state.images),
        }


def _image_size(sample: Sample) -> tuple[int, int]:
    image = getattr(sample.query, "rgb_b", None)
    if image is None:
        raise MetricError(f"sample {sample.id}: PCK by image needs the second image")
    return int(image.shape[1]), int(image.shape[0])
