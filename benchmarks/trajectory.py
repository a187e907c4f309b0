"""How long trajectory errors take, against evo.

    pip install evo==1.38.1
    python benchmarks/trajectory.py [--poses 50000] [--repeat 3]

Times relative pose error (translation and rotation, steps of one pose), absolute error after a
Sim(3) alignment, and association by timestamps, on a made-up walk, from arrays to numbers. evo
computes one quantity a call and works on objects of its own; both are timed: with the making of
those objects (`evo, from arrays`) and without (`evo`). All run in this process on one BLAS thread,
taking turns, so that ratios hold when the machine is busy. Prints medians, ratios and the largest
disagreement; fails above 1e-9, and where evo takes less than 10 times as long.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Read by OpenBLAS when numpy is first imported, hence before it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from evo.core import metrics, sync
from evo.core.trajectory import PoseTrajectory3D
from numpy.typing import NDArray
from timing import compare, largest, make_parser, require_agreement, time_in_turns

from rpx_pose.association import associate
from rpx_pose.rigid import compose
from rpx_pose.rotations import rotations_from_quaternions
from rpx_pose.trajectory_errors import (
    absolute_errors,
    align_estimate,
    apply_alignment,
    relative_errors,
    steps_by_frames,
)

Floats = NDArray[np.float64]
Values = Sequence[float]

TOLERANCE = 1e-9
LEAST_RATIO = 10.0


@dataclass(frozen=True)
class Walk:
    """A true and an estimated trajectory of equal length, as arrays and as evo's objects."""

    stamps: Floats
    truth: Floats
    estimate: Floats

    def as_evo(self) -> tuple[PoseTrajectory3D, PoseTrajectory3D]:
        return tuple(
            PoseTrajectory3D(poses_se3=list(poses), timestamps=self.stamps)
            for poses in (self.truth, self.estimate)
        )


def make_walk(count: int) -> Walk:
    rng = np.random.default_rng(0)
    quaternions = np.cumsum(rng.normal(0, 0.02, (count, 4)), axis=0) + np.eye(4)[3]
    truth = compose(
        rotations_from_quaternions(quaternions, order="xyzw"),
        np.cumsum(rng.normal(0.02, 0.05, (count, 3)), axis=0),
    )
    noise = np.column_stack([rng.normal(0, 0.005, (count, 3)), np.ones(count)])
    estimate = truth @ compose(
        rotations_from_quaternions(noise, order="xyzw"), rng.normal(0, 0.02, (count, 3))
    )
    return Walk(1.7e9 + np.arange(count) / 30, truth, estimate)


def our_rpe(walk: Walk) -> Values:
    starts, ends = steps_by_frames(len(walk.truth), 1, every_start=False)
    found = relative_errors(walk.truth, walk.estimate, starts, ends)
    return root_mean_square(found.translation_m), root_mean_square(found.rotation_deg)


def evo_rpe(pair: tuple[PoseTrajectory3D, PoseTrajectory3D]) -> Values:
    found = []
    for relation in ("translation_part", "rotation_angle_deg"):
        error = metrics.RPE(metrics.PoseRelation[relation], delta=1)
        error.process_data(pair)
        found.append(error.get_statistic(metrics.StatisticsType.rmse))
    return found


def our_ate(walk: Walk) -> Values:
    fitted = align_estimate(walk.truth, walk.estimate, "sim3")
    assert fitted is not None
    found = absolute_errors(walk.truth, apply_alignment(walk.estimate, fitted))
    return (root_mean_square(found.translation_m), root_mean_square(found.rotation_deg))


def evo_ate(pair: tuple[PoseTrajectory3D, PoseTrajectory3D]) -> Values:
    pair[1].align(pair[0], correct_scale=True)
    found = []
    for relation in ("translation_part", "rotation_angle_deg"):
        error = metrics.APE(metrics.PoseRelation[relation])
        error.process_data(pair)
        found.append(error.get_statistic(metrics.StatisticsType.rmse))
    return found


def our_association(walk: Walk) -> Values:
    found = associate(walk.stamps, walk.stamps[::3] + 0.003, max_difference=0.01)
    return (len(found.indices), float(found.truth_indices.sum()))


def evo_association(walk: Walk) -> Values:
    short, long = sync.matching_time_indices(walk.stamps[::3] + 0.003, walk.stamps, 0.01)
    return (len(short), float(sum(long)))


def root_mean_square(errors: Floats) -> float:
    return float(np.sqrt((errors**2).mean()))


def main() -> None:
    parser = make_parser(__doc__, repeat=3)
    parser.add_argument("--poses", type=int, default=50_000)
    options = parser.parse_args()
    walk = make_walk(options.poses)
    ready = walk.as_evo()
    cases: dict[str, dict[str, Callable[[], Values]]] = {
        "RPE": {
            "rpx_pose": lambda: our_rpe(walk),
            "evo": lambda: evo_rpe(ready),
            "evo, from arrays": lambda: evo_rpe(walk.as_evo()),
        },
        "ATE, Sim(3)": {
            "rpx_pose": lambda: our_ate(walk),
            "evo, from arrays": lambda: evo_ate(walk.as_evo()),
        },
        "association": {
            "rpx_pose": lambda: our_association(walk),
            "evo": lambda: evo_association(walk),
        },
    }
    least = float("inf")
    for title, work in cases.items():
        print(f"{title}, {options.poses} poses")
        found = time_in_turns(work, options.repeat)
        require_agreement(compare(found, "rpx_pose", largest), TOLERANCE)
        ours = found.pop("rpx_pose").milliseconds
        least = min(least, *(one.milliseconds / ours for one in found.values()))
    if not least >= LEAST_RATIO:
        sys.exit(f"evo takes {least:.1f} times as long, at least {LEAST_RATIO:g} promised")


if __name__ == "__main__":
    main()
