"""Absolute trajectory error (ATE), one class for each alignment: the alignment is in the name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
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

FEWEST_POSES = 3
TOO_FEW = Undefined(f"fewer than {FEWEST_POSES} poses are associated with the truth")
_STILL = Undefined("no scale can be fitted: one side does not move")
_OPEN = Undefined("a path is one line or one place, which leaves the rotation of an alignment free")


@dataclass(frozen=True)
class AbsoluteErrors:
    """Errors (n,) of associated poses, and sums over trajectories.

    `few` counts trajectories with too few associated poses. `scale` adds fitted scales;
    `ambiguous` counts those of the `aligned` trajectories whose alignment leaves a rotation open,
    which have no `rotation_deg`. `associated` of `shorter` poses found another, and `covered` of
    `expected` poses of the truth have one of these nearby.
    """

    translation_m: Cat
    rotation_deg: Cat
    trajectories: Sum
    few: Sum
    aligned: Sum
    scale: Sum
    ambiguous: Sum
    associated: Sum
    shorter: Sum
    covered: Sum
    expected: Sum


class AbsoluteError:
    """Distance of each associated pose from the truth, after an alignment of the whole trajectory.

    {rmse,mean,median,std,min,max}_m of |s·R·p + t - g| over positions p and g (n, 3), in metres ·
    rotation_{rmse,...}_deg of the angle between R·P and G · scale the fitted s · coverage share of
    the truth's poses with an associated one nearby (`rpx_pose.association`), and associated share
    of the shorter trajectory's poses with one of the other: 0 to 1, higher is better · poses how
    many the errors are of · ambiguous share of trajectories that move along one line or not at
    all. Errors: 0 is best, no upper end. std divides by n.

    ate-none uses the poses as they are, ate-origin makes the first ones coincide, ate-se3 fits R
    and t, ate-sim3 s, R and t (Umeyama, over positions). Errors are undefined where fewer than 3
    poses are associated, which an alignment brings to 0; ate-sim3 where either side does not move,
    since its scale would be any; rotations where the trajectory is ambiguous, for the rotation
    about its line is free. `sample` averages trajectories, as published tables do; `pooled` is
    over all their poses.

    Traps: more freedom makes a smaller error, so never compare different alignments. Where
    tracking is lost there is no error: read coverage. KITTI's drift per metre is another metric.
    Raises MetricError for a prediction that did not pass the task's `validate`.
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
                summary="poses of the truth with an associated one nearby in time",
            ),
            "associated": Output(
                better="higher", best=1.0, worst=0.0,
                summary="poses of the shorter trajectory with one of the other",
            ),
            "poses": Output(
                better=None, unit="poses", aggregates=("sample", "sample_median"),
                summary="associated poses, which the errors are of",
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
        few = len(true) < FEWEST_POSES
        fitted = None if few else align_estimate(true, estimate, self.alignment)
        if fitted is None:
            translation, rotation = np.zeros(0), np.zeros(0)
        else:
            errors = absolute_errors(true, apply_alignment(estimate, fitted))
            translation, rotation = errors.translation_m, errors.rotation_deg
        ambiguous = fitted is not None and fitted.is_ambiguous
        covered = prediction.covered
        return AbsoluteErrors(
            translation_m=translation,
            rotation_deg=rotation[: 0 if ambiguous else None],
            trajectories=1,
            few=int(few),
            aligned=int(fitted is not None),
            scale=fitted.scale if fitted is not None else 0.0,
            ambiguous=int(ambiguous),
            associated=len(true),
            shorter=min(len(truth), len(prediction.trajectory)),
            covered=len(true) if covered is None else int(np.count_nonzero(covered)),
            expected=len(truth),
        )

    def result(self, state: AbsoluteErrors) -> ResultMap:
        """The statistics of one trajectory, or of the pooled poses of many."""
        aligned, associated = int(state.aligned), int(state.associated)
        none = TOO_FEW if int(state.few) == int(state.trajectories) else _STILL
        turned = _OPEN if aligned else none
        return {
            **statistics_of(np.asarray(state.translation_m), "", "_m", without=none),
            **statistics_of(np.asarray(state.rotation_deg), "rotation_", "_deg", without=turned),
            "scale": float(state.scale) / aligned if aligned else none,
            "coverage": int(state.covered) / int(state.expected),
            "associated": associated / int(state.shorter),
            "poses": associated / int(state.trajectories),
            "ambiguous": int(state.ambiguous) / aligned if aligned else none,
        }


class AteNone(AbsoluteError):
    """ATE of the poses as they are: `AbsoluteError` with s = 1, R = I, t = 0."""


class AteOrigin(AbsoluteError):
    """ATE after the first associated poses are made to coincide."""

    alignment: ClassVar[Alignment] = "origin"


class AteSe3(AbsoluteError):
    """ATE after the best rigid motion: `AbsoluteError` with R and t fitted, s = 1."""

    alignment: ClassVar[Alignment] = "se3"


class AteSim3(AbsoluteError):
    """ATE after the best rigid motion and scale: `AbsoluteError` with s, R and t fitted."""

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
