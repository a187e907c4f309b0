"""A dataset folder of pairs and frames to fill, and the tasks reading from it as a run does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample, Task
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import build_manifest
from rpx_core.records import Record
from rpx_pose.tasks.keypoints import KeypointMatching, KeypointMatchingOptions
from rpx_pose.tasks.relative_pose import RelativeCameraPose, RelativeCameraPoseOptions
from rpx_pose.tasks.trajectory import TrajectoryOptions, TrajectoryTask

CAMERA = {"fx": 100.0, "fy": 101.0, "cx": 32.0, "cy": 24.0}
TASKS: dict[str, tuple[type, type]] = {
    "relative_camera_pose": (RelativeCameraPose, RelativeCameraPoseOptions),
    "keypoint_matching": (KeypointMatching, KeypointMatchingOptions),
    "trajectory": (TrajectoryTask, TrajectoryOptions),
}


class DatasetFolder:
    """Records and their files, and a task's reading of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.records: list[dict[str, Any]] = []

    def write(self, name: str, content: bytes) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return name

    def image(self, name: str, shape: tuple[int, int] = (48, 64)) -> str:
        rng = np.random.default_rng(len(name))
        return self.write(name, encode_png(rng.integers(0, 255, (*shape, 3), dtype=np.uint8)))

    def add(self, **keys: Any) -> dict[str, Any]:
        self.records.append(keys)
        return keys

    def arrange(self, task: str, **options: Any) -> list[Record]:
        """The samples' records, sequence by sequence."""
        header = {"task": task, "pose_convention": "opencv"}
        known = ("homography", "poses")
        manifest = build_manifest(header, self.records, root=self.root, known=known)
        built = build_task(task, **options)
        return [
            record
            for entries in manifest.sequences().values()
            for record in built.arrange(manifest.records(entries), manifest.files)
        ]

    def load(self, task: str, **options: Any) -> Sample:
        """The only sample."""
        (record,) = self.arrange(task, **options)
        return build_task(task, **options).load(record, Files(self.root))


def build_task(name: str, **options: Any) -> Task[Any, Any]:
    kind, settings = TASKS[name]
    task: Task[Any, Any] = kind(settings(**options))
    return task


@pytest.fixture
def folder(tmp_path: Path) -> DatasetFolder:
    return DatasetFolder(tmp_path)


@pytest.fixture
def pair(folder: DatasetFolder) -> DatasetFolder:
    """A folder with one published pair: the second camera 0.2 m to the right, turned by 10°."""
    folder.add(
        id="scene1_clutter_00007",
        rgb=folder.image("a.png"),
        rgb_b=folder.image("b.png"),
        pose_a=np.eye(4).tolist(),
        pose_b=motion(turn_z(10), (0.2, 0, 0)).tolist(),
        intrinsics=CAMERA,
        intrinsics_b=CAMERA,
    )
    return folder


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Task[Any, Any]]:
    """A task by its name, with the options given."""
    return build_task


def turn_z(degrees: float) -> np.ndarray[Any, Any]:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def motion(rotation: Any, translation: Sequence[float]) -> np.ndarray[Any, Any]:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


@pytest.fixture(scope="session")
def rpx() -> Callable[..., dict[str, Any]]:
    """What a command prints under `--json`; it must end with the exit code expected."""

    def run(folder: Path, *arguments: str, expect: int = 0) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "rpx_core.cli", *arguments, "--json"],
            cwd=folder,
            env={**os.environ, "RPX_CACHE_DIR": str(folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == expect, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run
