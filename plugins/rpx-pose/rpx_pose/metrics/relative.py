"""Relative pose error (RPE): how far the motion over a step is off, whatever came before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.errors import ConfigError
from rpx_core.state import Cat
from rpx_pose.metrics.absolute import FEWEST_POSES, TOO_FEW, associated_poses
from rpx_pose.metrics.statistics import statistics_of, statistics_outputs
from rpx_pose.trajectory_errors import (
    Floats,
    Indices,
    align_estimate,
    apply_alignment,
    relative_errors,
    steps_by_distance,
    steps_by_frames,
)
from rpx_pose.types import Trajectory, TrajectoryPrediction


class RelativeErrorOptions(BaseModel):
    """A step is `delta` associated poses (`frames`) or metres of path (`m`) long.

    `every_start` takes a step from every pose; otherwise steps follow each other. Path length is
    that of the `truth`, or of the `estimate` as evo has it; the truth's gives every estimate the
    same steps. `scale` fits the estimate's scale to the truth first (Sim(3)).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    delta: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1
    unit: Literal["frames", "m"] = "frames"
    every_start: bool = False
    path: Literal["truth", "estimate"] = "truth"
    scale: Literal["as-is", "fitted"] = "as-is"


@dataclass(frozen=True)
class StepErrors:
    """Errors (n,) of n steps."""

    translation_m: Cat
    rotation_deg: Cat


class RelativeError:
    """Error of the motion over steps: E = (Qᵢ⁻¹Qⱼ)⁻¹(Pᵢ⁻¹Pⱼ), Q true and P estimated poses.

    {rmse,mean,median,std,min,max}_m of E's translation and rotation_{...}_deg of its angle, over
    steps from i to j = i + delta poses (4x4), or along delta metres of path. 0 is best, lower is
    better. No rigid alignment changes it. Undefined with fewer than 3 associated poses, where there
    is no step of that length, and with a fitted scale where that is undefined. Raises MetricError
    for a prediction that did not pass the task's `validate`. `sample` averages trajectories,
    `pooled` steps.

    Traps: the delta decides the number, so compare equal ones. Poses that are missing make steps
    of `frames` longer. Source: Sturm et al. 2012.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = StepErrors
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            **statistics_outputs("", "m", "_m", "translation error of a step"),
            **statistics_outputs("rotation_", "deg", "_deg", "rotation error of a step"),
        }
    )

    def __init__(self, options: RelativeErrorOptions) -> None:
        self._options = options
        if options.unit == "frames" and not float(options.delta).is_integer():
            raise ConfigError(
                f"delta is {options.delta:g} frames; a whole number was expected",
                hint='steps by path length: unit = "m"',
            )

    def measure(
        self, sample: Sample, truth: Trajectory, prediction: TrajectoryPrediction
    ) -> StepErrors | Undefined:
        """The errors of one trajectory's steps, undefined where it has none."""
        true, estimate = associated_poses(sample, truth, prediction)
        if len(true) < FEWEST_POSES:
            return TOO_FEW
        if self._options.scale == "fitted":
            fitted = align_estimate(true, estimate, "sim3")
            if fitted is None:
                return Undefined("no scale can be fitted: one side does not move")
            estimate = apply_alignment(estimate, fitted)
        starts, ends = self._steps(true, estimate)
        if not len(starts):
            return Undefined(f"no step of {self._options.delta:g} {self._options.unit} is there")
        errors = relative_errors(true, estimate, starts, ends)
        return StepErrors(errors.translation_m, errors.rotation_deg)

    def result(self, state: StepErrors) -> ResultMap:
        """The statistics of one trajectory's steps, or of those of many."""
        return {
            **statistics_of(np.asarray(state.translation_m), "", "_m"),
            **statistics_of(np.asarray(state.rotation_deg), "rotation_", "_deg"),
        }

    def _steps(self, truth: Floats, estimate: Floats) -> tuple[Indices, Indices]:
        options = self._options
        if options.unit == "frames":
            return steps_by_frames(len(truth), int(options.delta), every_start=options.every_start)
        poses = truth if options.path == "truth" else estimate
        return steps_by_distance(poses[:, :3, 3], options.delta, every_start=options.every_start)
