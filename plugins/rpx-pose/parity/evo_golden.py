"""Write the reference numbers of evo 1.38.1 that the tests compare with.

    pip install evo==1.38.1 rpx-pose
    python parity/evo_golden.py tests/data

The trajectories are made here, from a seed: a walk in space, one in a plane at map coordinates of
millions of metres, and a sparse estimate of keyframes with its own scale and world.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evo
import numpy as np
from evo.core import sync
from evo.core.trajectory import PoseTrajectory3D
from evo_data import align, ape, evo_rpe

from rpx_pose.rigid import compose
from rpx_pose.rotations import rotations_from_quaternions

SEED = 20260501
STEPS: dict[str, dict[str, Any]] = {
    "frames-1": {"delta": 1},
    "frames-5-every": {"delta": 5, "every_start": True},
    "metres-0.5": {"delta": 0.5, "unit": "m", "path": "estimate"},
}
Floats = np.ndarray[Any, np.dtype[np.float64]]


def main() -> None:
    folder = Path(sys.argv[1])
    arrays: dict[str, Floats] = {}
    cases = []
    for name, make in CASES.items():
        truth, estimate = make(np.random.default_rng(SEED))
        for side, (stamps, poses) in (("truth", truth), ("estimate", estimate)):
            arrays[f"{name}-{side}-timestamps"], arrays[f"{name}-{side}-poses"] = stamps, poses
        cases.append(measure(name, truth, estimate))
    np.savez(folder / "evo_golden.npz", **arrays)
    document = {"evo": evo.__version__, "numpy": np.__version__, "seed": SEED, "cases": cases}
    (folder / "evo_golden.json").write_text(json.dumps(document, indent=1) + "\n")


def measure(name: str, truth: Any, estimate: Any) -> dict[str, Any]:
    true, estimated = sync.associate_trajectories(*map(as_evo, (truth, estimate)), max_diff=0.02)
    found: dict[str, Any] = {"name": name, "associated": true.num_poses, "ate": {}, "rpe": {}}
    for alignment in ("none", "origin", "se3", "sim3"):
        aligned = align(true, estimated, alignment)
        found["ate"][alignment] = {
            "m": ape(true, aligned, "translation_part"),
            "deg": ape(true, aligned, "rotation_angle_deg"),
        }
    for label, step in STEPS.items():
        found["rpe"][label] = {
            "options": step,
            "m": evo_rpe(true, estimated, "translation_part", step),
            "deg": evo_rpe(true, estimated, "rotation_angle_deg", step),
        }
    return found


def as_evo(trajectory: tuple[Floats, Floats]) -> PoseTrajectory3D:
    stamps, poses = trajectory
    return PoseTrajectory3D(poses_se3=list(poses), timestamps=stamps)


def walk(rng: np.random.Generator, poses: int, *, planar: bool) -> Floats:
    """A smooth path with turning orientations."""
    steps = rng.normal(0, 0.05, (poses, 3)) + np.array([0.08, 0.02, 0.01])
    turns = rng.normal(0, 0.03, (poses, 3))
    if planar:
        steps[:, 2] = 0
        turns[:, :2] = 0
    return compose(rotations(np.cumsum(turns, axis=0)), np.cumsum(steps, axis=0))


def rotations(vectors: Floats) -> Floats:
    half = np.linalg.norm(vectors, axis=1, keepdims=True) / 2
    quaternions = np.hstack([np.sinc(half / np.pi) * vectors / 2, np.cos(half)])
    return rotations_from_quaternions(quaternions, order="xyzw")


def disturb(rng: np.random.Generator, poses: Floats) -> Floats:
    noise = compose(
        rotations(rng.normal(0, 0.01, (len(poses), 3))), rng.normal(0, 0.02, (len(poses), 3))
    )
    return poses @ noise


def space(rng: np.random.Generator) -> Any:
    truth = walk(rng, 120, planar=False)
    stamps = 1.7e9 + np.arange(120) * 0.1
    estimate = disturb(rng, truth)[3:110]
    return (stamps, truth), (stamps[3:110] + rng.uniform(-0.015, 0.015, 107), estimate)


def plane(rng: np.random.Generator) -> Any:
    truth = walk(rng, 80, planar=True)
    truth[:, :3, 3] += (458074.6, 5429380.1, 162.9)
    stamps = np.arange(80) * 0.5
    return (stamps, truth), (stamps, disturb(rng, truth))


def keyframes(rng: np.random.Generator) -> Any:
    truth = walk(rng, 150, planar=False)
    stamps = np.arange(150) * 0.05
    chosen = np.sort(rng.choice(150, 40, replace=False))
    world = compose(rotations(rng.normal(0, 1, (1, 3)))[0], rng.normal(0, 3, 3))
    estimate = world @ disturb(rng, truth[chosen])
    estimate[:, :3, 3] *= 0.37
    return (stamps, truth), (stamps[chosen], estimate)


CASES: dict[str, Callable[[np.random.Generator], Any]] = {
    "space": space,
    "plane": plane,
    "keyframes": keyframes,
}

if __name__ == "__main__":
    main()
