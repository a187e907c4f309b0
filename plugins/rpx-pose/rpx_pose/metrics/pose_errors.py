"""Rotation, direction and translation error of relative poses, with failures counted in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Aggregate, Output, ResultMap, Sample, Undefined, Unit
from rpx_core.state import Sum
from rpx_pose.relative_errors import (
    LARGEST_DEG,
    SHORTEST_M,
    Direction,
    PoseErrors,
    RelativePoses,
    measure_pose_errors,
)
from rpx_pose.rotations import unit_vector
from rpx_pose.types import RelativePoseGroundTruth, RelativePosePrediction

NO_DIRECTION = Undefined("the true translation is too short to have a direction")
_NO_METRES = Undefined("there is no answer in metres")
AVERAGES: tuple[Aggregate, ...] = ("sample", "sample_median", "group")
"""The sums pool to the mean of samples, so `pooled` would say the same again."""


class PoseErrorOptions(BaseModel):
    """`shortest_m`: a true translation below this many metres has no direction.

    `direction` says whether an opposite translation is 180° off (`signed`, for models that solve
    cheirality) or right (`folded`, for bare essential matrices), in what combines rotation and
    direction.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    shortest_m: Annotated[float, Field(gt=0, allow_inf_nan=False)] = SHORTEST_M
    direction: Direction = "signed"


@dataclass(frozen=True)
class PoseSums:
    """Totals over `pairs`, of which `answered` have a pose, `directed` a true direction.

    Degrees; `scaled` pairs have an answer in metres and add to `translation_m`.
    """

    pairs: Sum
    answered: Sum
    rotation_deg: Sum
    directed: Sum
    direction_deg: Sum
    folded_deg: Sum
    max_deg: Sum
    scaled: Sum
    translation_m: Sum


def _degrees(summary: str, worst: float = LARGEST_DEG) -> Output:
    return Output(
        better="lower", unit="deg", best=0.0, worst=worst, aggregates=AVERAGES, summary=summary
    )


class RelativePoseErrors:
    """Errors of one relative pose, truth (Rg, tg) and prediction (Rp, tp), camera b in camera a.

    Rotations are 3x3, translations (3,) in metres where the model knows the scale.

    rotation_error_deg angle of RpᵀRg, 0 to 180, never folded · translation_angular_deg angle
    between tp and tg, 0 to 180, signed · translation_angular_folded_deg the same with an opposite
    direction counted as right, 0 to 90 · pose_error_max_deg the larger of rotation and direction ·
    translation_error_m |tp - tg| · coverage share of pairs with a pose, 1 is best. Errors: 0 is
    best, lower is better.

    A pair without an answer counts with the largest error, 180° (folded: 90°), as does the
    direction of a predicted translation of zero (below 1e-9 m, if in metres): leaving hard pairs
    out never helps. Where the truth moves less than `shortest_m`, direction and maximum are
    undefined, whether there is an answer or not, and the rotation counts; the published metric
    says 180° there. translation_error_m is undefined without an answer in metres.
    Source: the published RPX metrics of the same names.

    Traps: a mean hides failures in a few large values; read pose AUC and `sample_median` beside
    it. A prediction is the pose of b in a; `recoverPose` of OpenCV returns the inverse.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = PoseSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "rotation_error_deg": _degrees("angle between predicted and true rotation"),
            "translation_angular_deg": _degrees("angle between the translations, signed"),
            "translation_angular_folded_deg": _degrees(
                "angle between the lines of the translations", LARGEST_DEG / 2
            ),
            "pose_error_max_deg": _degrees("larger of rotation and direction error"),
            "translation_error_m": Output(
                better="lower", unit="m", best=0.0, aggregates=AVERAGES,
                summary="distance between the translations, where the model knows the scale",
            ),
            "coverage": Output(
                better="higher", best=1.0, worst=0.0, aggregates=("sample", "group"),
                summary="pairs with a pose",
            ),
        }
    )  # fmt: skip

    def __init__(self, options: PoseErrorOptions) -> None:
        self._options = options

    def measure(
        self, sample: Sample, truth: RelativePoseGroundTruth, prediction: RelativePosePrediction
    ) -> PoseSums:
        """The errors of one pair; every pair has some."""
        errors = measure_pair(truth, prediction, self._options.shortest_m)
        found = prediction.rotation is not None
        scaled = found and prediction.scale_known
        return PoseSums(
            pairs=1,
            answered=int(found),
            rotation_deg=float(errors.rotation_deg[0]),
            directed=int(errors.has_direction[0]),
            direction_deg=float(errors.direction_deg[0]),
            folded_deg=float(errors.folded_deg[0]),
            max_deg=float(errors.max_deg(self._options.direction)[0]),
            scaled=int(scaled),
            translation_m=float(errors.translation_m[0]) if scaled else 0.0,
        )

    def result(self, state: PoseSums) -> ResultMap:
        """The errors of one pair, or their means over many."""
        return {
            "rotation_error_deg": _mean(state.rotation_deg, state.pairs),
            "translation_angular_deg": _mean(state.direction_deg, state.directed, NO_DIRECTION),
            "translation_angular_folded_deg": _mean(state.folded_deg, state.directed, NO_DIRECTION),
            "pose_error_max_deg": _mean(state.max_deg, state.directed, NO_DIRECTION),
            "translation_error_m": _mean(state.translation_m, state.scaled, _NO_METRES),
            "coverage": _mean(state.answered, state.pairs),
        }


def measure_pair(
    truth: RelativePoseGroundTruth, prediction: RelativePosePrediction, shortest_m: float
) -> PoseErrors:
    """The errors of one pair, as arrays of one."""
    rotation, translation = prediction.rotation, prediction.translation
    found = rotation is not None and translation is not None
    if rotation is None or translation is None:
        rotation, translation = np.eye(3), np.zeros(3)
    elif not prediction.scale_known:
        # Its length means nothing: what is short in no unit still has a direction.
        translation = unit_vector(translation)
    return measure_pose_errors(
        RelativePoses(truth.rotation[None], truth.translation[None]),
        RelativePoses(rotation[None], translation[None], np.array([found])),
        shortest_m=shortest_m,
    )


def _mean(total: float, count: int, without: Undefined | None = None) -> float | Undefined | None:
    return float(total) / int(count) if count else without
