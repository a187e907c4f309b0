"""A dataset folder to fill, the task reading from it as a run does, and reference files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Sample
from rpx_core.records import Record
from rpx_nvs.options import NovelViewSynthesisOptions
from rpx_nvs.task import NovelViewSynthesis
from tests.dataset_folder import DatasetFolder

DATA = Path(__file__).parent / "data"
SHAPE = (5, 7)
INTRINSICS = {"fx": 20.0, "fy": 20.0, "cx": 3.0, "cy": 2.0}


class ViewFolder(DatasetFolder):
    """Frames and listed samples, and the task's reading of them."""

    def image(self, name: str, level: int = 90) -> str:
        return self.write_rgb(name, SHAPE, level)

    def add_frame(self, frame: int, **keys: Any) -> None:
        """A frame of one sequence, 10 cm to the right of the one before; depth 1 m."""
        known = {
            "id": f"scene1_clutter_{frame:05d}",
            "scene": "scene1",
            "phase": 0,
            "rgb": self.image(f"rgb/{frame}.png", 10 * frame),
            "pose": right_by(0.1 * frame),
            "intrinsics": INTRINSICS,
            "depth": self.write(f"depth/{frame}.npy", encode_npy(np.ones(SHAPE, np.float32))),
        }
        self.add(**{**known, **keys})

    def add_pair(self, **keys: Any) -> None:
        """A sample as it is listed: source, target, and the target's pose."""
        known = {
            "id": "pair_0",
            "rgb": self.image("source.png", 40),
            "target_rgb": self.image("target.png", 80),
            "target_pose": right_by(0.1),
        }
        self.add(**{**known, **keys})

    def arranged(self, **options: Any) -> list[Record]:
        return self.arrange(NovelViewSynthesis(NovelViewSynthesisOptions(**options)))

    def load(self, **options: Any) -> list[Sample]:
        return self.load_all(NovelViewSynthesis(NovelViewSynthesisOptions(**options)))

    def load_one(self, **options: Any) -> Sample:
        (sample,) = self.load(**options)
        return sample


def right_by(distance: float) -> list[list[float]]:
    """The pose of a camera so many metres to the right."""
    pose = np.eye(4)
    pose[0, 3] = distance
    return pose.tolist()


@pytest.fixture
def folder(tmp_path: Path) -> ViewFolder:
    known = ("target_intrinsics", "target_depth", "target_depth_scale", "target_mask", "sources")
    return ViewFolder(tmp_path, known=known, task="novel_view_synthesis", pose_convention="opencv")


@pytest.fixture(scope="session")
def task() -> Callable[..., NovelViewSynthesis]:
    """The task with the options given."""
    return lambda **options: NovelViewSynthesis(NovelViewSynthesisOptions(**options))


@pytest.fixture(scope="session")
def golden() -> Callable[[str], tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """The case of an id in the golden file, and its arrays by role."""
    document = json.loads((DATA / "nvs_golden.json").read_text())
    cases = {case["id"]: case for case in document["cases"]}

    def find(identifier: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        case = cases[identifier]
        with np.load(DATA / "nvs_golden.npz", allow_pickle=False) as arrays:
            return case, {role: arrays[name] for role, name in case["inputs"].items()}

    return find


@pytest.fixture(scope="session")
def reference() -> tuple[dict[str, dict[str, float]], dict[str, np.ndarray]]:
    """Numbers of scikit-image and torchmetrics by case, and the images they are of."""
    document = json.loads((DATA / "nvs_reference.json").read_text())
    with np.load(DATA / "nvs_reference.npz", allow_pickle=False) as arrays:
        return document["cases"], dict(arrays)
