"""Absolute trajectory error (ATE), one class for each alignment: the alignment is in the name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.errors import MetricError
from rpx_core.state import Cat, Sum
from rpx_pose.metrics.statistics import statistics_of, statistics_outputs
from rpx_pose.trajectory_errors import (
    Alignment,
    Floats,
    absolute_errors,
    align_estimate,
    apply_alignment,
)
from rpx_pose.types import Trajectory, TrajectoryPrediction


@dataclass(frozen=True)
class AbsoluteErrors:
    """Errors (n,) of associated poses, and sums over trajectories.

    `scale` adds fitted scales; `ambiguous` counts those of the `aligned` trajectories whose
    alignment leaves a rotation open, which have no `rotation_deg`. `associated` of `shorter`
    poses found another, and `covered` of `lasting` seconds of the truth lie between the first and
    the last of them (poses instead of seconds, without timestamps).
    """

    translation_m: Cat
    rotation_deg: Cat
    aligned: Sum
    scale: Sum
    ambiguous: Sum
    associated: Sum
    shorter: Sum
    covered: Sum
    lasting: Sum


class AbsoluteError:
    """Distance of each associated pose from the truth, after an alignment of the whole trajectory.

    {rmse,mean,median,std,min,max}_m of |s·R·p + t - g| over positions p and g ·
    rotation_{rmse,...}_deg of the angle between R·P and G · scale the fitted s · coverage share of
    the truth's duration between its first and last associated pose, and associated share of the
    shorter trajectory's poses with one of the other: 0 to 1, higher is better · ambiguous share of
    trajectories that move along one line or not at all. Errors: 0 is best, no upper end. std
    divides by n.

    ate-none uses the poses as they are, ate-origin makes the first ones coincide, ate-se3 fits R
    and t, ate-sim3 s, R and t (Umeyama, over positions). Undefined where nothing is associated;
    ate-sim3 where either side does not move, since its scale would be any; rotations where the
    trajectory is ambiguous, for the rotation about its line is free. `sample` averages
    trajectories, as published tables do; `pooled` is over all their poses.

    Traps: more freedom makes a smaller error, so never compare different alignments. Unanswered
    poses are left out: read coverage. KITTI's drift per metre is another metric.
    Source: Sturm et al. 2012; Zhang and Scaramuzza 2018.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = AbsoluteErrors
    alignment: ClassVar[Alignment] = "none"
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            **statistics_outputs("", "m", "_m", "distance from the true position"),
            **statistics_outputs("rotation_", "deg", "_deg", "angle from the true orientation"),
            "scale": Output(
                better=None, best=1.0, aggregates=("sample",), summary="fitted scale"
            ),
            "coverage": Output(
                better="higher", best=1.0, worst=0.0,
                summary="duration of the truth between its first and last associated pose",
            ),
            "associated": Output(
                better="higher", best=1.0, worst=0.0,
                summary="poses of the shorter trajectory with one of the other",
            ),
            "ambiguous": Output(
                better=None, aggregates=("sample",),
                summary="trajectories whose alignment leaves a rotation open",
            ),
        }
    )  # fmt: skip

    def measure(
        self, sample: Sample, truth: Trajectory, prediction: TrajectoryPrediction
    ) -> AbsoluteErrors:
        """The errors of one trajectory; none, but its coverage, where it cannot be aligned."""
        true, estimate = associated_poses(sample, truth, prediction)
        fitted = align_estimate(true, estimate, self.alignment)
        if fitted is None:
            translation, rotation = np.zeros(0), np.zeros(0)
        else:
            errors = absolute_errors(true, apply_alignment(estimate, fitted))
            translation, rotation = errors.translation_m, errors.rotation_deg
        ambiguous = fitted is not None and fitted.is_ambiguous
        covered, lasting = _durations(truth, prediction)
        return AbsoluteErrors(
            translation_m=translation,
            rotation_deg=rotation[: 0 if ambiguous else None],
            aligned=int(fitted is not None),
            scale=fitted.scale if fitted is not None else 0.0,
            ambiguous=int(ambiguous),
            associated=len(true),
            shorter=min(len(truth), len(prediction.trajectory)),
            covered=covered,
            lasting=lasting,
        )

    def result(self, state: AbsoluteErrors) -> ResultMap:
        """The statistics of one trajectory, or of the pooled poses of many."""
        aligned = int(state.aligned)
        return {
            **statistics_of(np.asarray(state.translation_m), "", "_m"),
            **statistics_of(np.asarray(state.rotation_deg), "rotation_", "_deg"),
            "scale": float(state.scale) / aligned if aligned else None,
            "coverage": float(state.covered) / float(state.lasting) if state.lasting else None,
            "associated": int(state.associated) / int(state.shorter),
            "ambiguous": int(state.ambiguous) / aligned if aligned else None,
        }


class AteNone(AbsoluteError):
    """ATE of the poses as they are."""


class AteOrigin(AbsoluteError):
    """ATE after the first associated poses are made to coincide."""

    alignment: ClassVar[Alignment] = "origin"


class AteSe3(AbsoluteError):
    """ATE after the best rigid motion."""

    alignment: ClassVar[Alignment] = "se3"


class AteSim3(AbsoluteError):
    """ATE after the best rigid motion and scale."""

    alignment: ClassVar[Alignment] = "sim3"


def associated_poses(
    sample: Sample, truth: Trajectory, prediction: TrajectoryPrediction
) -> tuple[Floats, Floats]:
    """The true and the estimated poses (m, 4, 4) that belong together."""
    if prediction.truth_indices is None or prediction.indices is None:
        raise MetricError(
            f"sample {sample.id}: the estimate's poses are not associated with the truth's",
            hint="pass predictions through the task's validate()",
        )
    return truth.poses[prediction.truth_indices], prediction.trajectory.poses[prediction.indices]


def _durations(truth: Trajectory, prediction: TrajectoryPrediction) -> tuple[float, float]:
    """The truth's duration between its first and last associated pose, and all of it."""
    stamps = truth.timestamps
    if stamps is None:
        stamps = np.arange(len(truth), dtype=np.float64)
    found = prediction.truth_indices
    if found is None or not len(found):
        return 0.0, float(stamps[-1] - stamps[0])
    return float(stamps[found.max()] - stamps[found.min()]), float(stamps[-1] - stamps[0])
