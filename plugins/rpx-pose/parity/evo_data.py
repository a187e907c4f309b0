"""Compare trajectory errors with evo 1.38.1 on the recordings of evo's own tests.

    pip download --no-deps --no-binary :all: evo==1.38.1 && tar xzf evo-1.38.1.tar.gz
    pip install evo==1.38.1 rpx-pose
    python parity/evo_data.py evo-1.38.1/test/data

Both read the same files. Prints the largest difference of every statistic (rmse, mean, median, std,
min, max) and fails above 1e-9. The recordings belong to evo and are never kept here.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evo.core import metrics, sync
from evo.tools import file_interface

from rpx_core.contracts import Sample
from rpx_pose.metrics.absolute import AbsoluteError, AteNone, AteOrigin, AteSe3, AteSim3
from rpx_pose.metrics.relative import RelativeError, RelativeErrorOptions
from rpx_pose.tasks.trajectory import TrajectoryOptions, TrajectoryTask
from rpx_pose.trajectory_files import read_trajectory

TOLERANCE = 1e-9
RECORDINGS = (
    ("tum", "freiburg1_xyz-groundtruth.txt", "freiburg1_xyz-rgbdslam.txt"),
    ("tum", "freiburg1_xyz-groundtruth.txt", "freiburg1_xyz-rgbdslam_drift.txt"),
    ("tum", "freiburg1_xyz-groundtruth.txt", "freiburg1_xyz-ORB_kf_mono.txt"),
    ("tum", "fr2_desk_groundtruth.txt", "fr2_desk_ORB.txt"),
    ("tum", "fr2_desk_groundtruth.txt", "fr2_desk_ORB_kf_mono.txt"),
    ("kitti", "KITTI_00_gt.txt", "KITTI_00_ORB.txt"),
    ("kitti", "KITTI_00_gt.txt", "KITTI_00_SPTAM.txt"),
    ("euroc", "V102_groundtruth.csv", "V102.txt"),
)
ALIGNMENTS: tuple[tuple[str, type[AbsoluteError]], ...] = (
    ("none", AteNone),
    ("origin", AteOrigin),
    ("se3", AteSe3),
    ("sim3", AteSim3),
)
STEPS: tuple[dict[str, Any], ...] = (
    {"delta": 1},
    {"delta": 10},
    {"delta": 10, "every_start": True},
    {"delta": 1, "unit": "m", "path": "estimate"},
    {"delta": 1, "unit": "m", "path": "estimate", "every_start": True},
    {"delta": 1, "scale": "fitted"},
)


def main() -> None:
    folder = Path(sys.argv[1])
    worst = 0.0
    for kind, reference, estimate in RECORDINGS:
        print(f"\n{estimate}")
        for name, values, expected in compare(kind, folder / reference, folder / estimate):
            difference = max(abs(values[key] - expected[key]) for key in expected)
            worst = max(worst, difference)
            rmse = next(value for key, value in values.items() if key.endswith("rmse"))
            print(f"  {name:34} rmse {rmse:<22.15g} largest difference {difference:.1e}")
    print(f"\nlargest difference of all: {worst:.1e}, at most {TOLERANCE} expected")
    sys.exit(worst > TOLERANCE)


def compare(kind: str, reference: Path, estimate: Path) -> Iterator[tuple[str, Any, Any]]:
    """Name, our statistics and evo's, of everything that both compute."""
    true, estimated = read_both(kind, reference, estimate)
    ours = read_trajectory(reference.read_bytes(), name=reference.name)
    sample = Sample("s", ground_truth=ours)
    task = TrajectoryTask(TrajectoryOptions(min_associated=0))
    prediction = task.validate(read_trajectory(estimate.read_bytes(), name=estimate.name), sample)
    for name, metric in ALIGNMENTS:
        aligned = align(true, estimated, name)
        values = metric().result(metric().measure(sample, ours, prediction))
        yield f"ate {name}, m", named(values, "", "_m"), ape(true, aligned, "translation_part")
        yield (
            f"ate {name}, deg",
            named(values, "rotation_", "_deg"),
            ape(true, aligned, "rotation_angle_deg"),
        )
    for step in STEPS:
        rpe = RelativeError(RelativeErrorOptions(**step))
        state = rpe.measure(sample, ours, prediction)
        if state is None:
            continue
        values = rpe.result(state)
        aligned = align(true, estimated, "sim3" if "scale" in step else "none")
        text = ", ".join(f"{value}" for value in step.values())
        for relation, prefix, suffix in (
            ("translation_part", "", "_m"),
            ("rotation_angle_deg", "rotation_", "_deg"),
        ):
            yield (
                f"rpe {text}, {suffix[1:]}",
                named(values, prefix, suffix),
                evo_rpe(true, aligned, relation, step),
            )


def read_both(kind: str, reference: Path, estimate: Path) -> tuple[Any, Any]:
    if kind == "kitti":
        return tuple(file_interface.read_kitti_poses_file(path) for path in (reference, estimate))
    read = {
        "tum": file_interface.read_tum_trajectory_file,
        "euroc": file_interface.read_euroc_csv_trajectory,
    }[kind]
    estimated = file_interface.read_tum_trajectory_file(estimate)
    return sync.associate_trajectories(read(reference), estimated)


def align(true: Any, estimated: Any, alignment: str) -> Any:
    aligned = copy.deepcopy(estimated)
    if alignment == "origin":
        aligned.align_origin(true)
    elif alignment != "none":
        aligned.align(true, correct_scale=alignment == "sim3")
    return aligned


def ape(true: Any, estimated: Any, relation: str) -> dict[str, float]:
    error = metrics.APE(metrics.PoseRelation[relation])
    error.process_data((true, estimated))
    return statistics(error)


def evo_rpe(true: Any, estimated: Any, relation: str, step: dict[str, Any]) -> dict[str, float]:
    unit = metrics.Unit.meters if step.get("unit") == "m" else metrics.Unit.frames
    error = metrics.RPE(
        metrics.PoseRelation[relation],
        delta=step["delta"],
        delta_unit=unit,
        all_pairs=step.get("every_start", False),
    )
    error.process_data((true, estimated))
    return statistics(error)


def statistics(error: Any) -> dict[str, float]:
    found = error.get_all_statistics()
    return {name: float(found[name]) for name in ("rmse", "mean", "median", "std", "min", "max")}


def named(values: Any, prefix: str, suffix: str) -> dict[str, float]:
    return {
        name: values[f"{prefix}{name}{suffix}"]
        for name in ("rmse", "mean", "median", "std", "min", "max")
    }


if __name__ == "__main__":
    main()
