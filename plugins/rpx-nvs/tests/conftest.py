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
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import build_manifest
from rpx_core.records import Record
from rpx_nvs.task import NovelViewSynthesis, NovelViewSynthesisOptions

DATA = Path(__file__).parent / "data"
INTRINSICS = {"fx": 20.0, "fy": 20.0, "cx": 3.0, "cy": 2.0}


class DatasetFolder:
    """Records with their files, and the task's reading of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.records: list[dict[str, Any]] = []

    def put(self, name: str, content: bytes) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return name

    def put_image(self, name: str, level: int = 90, shape: tuple[int, int] = (5, 7)) -> str:
        return self.put(name, encode_png(np.full((*shape, 3), level, np.uint8)))

    def add_frame(self, frame: int, **keys: Any) -> None:
        """A frame of one sequence, 10 cm to the right of the one before; depth 1 m."""
        pose = np.eye(4)
        pose[0, 3] = 0.1 * frame
        self.records.append(
            {
                "id": f"scene1_clutter_{frame:05d}",
                "scene": "scene1",
                "phase": 0,
                "rgb": self.put_image(f"rgb/{frame}.png", 10 * frame),
                "pose": pose.tolist(),
                "intrinsics": INTRINSICS,
                "depth": self.put(f"depth/{frame}.npy", encode_npy(np.ones((5, 7), np.float32))),
                **keys,
            }
        )

    def add_pair(self, **keys: Any) -> None:
        """A sample as it is listed: source, target, and the target's pose."""
        pose = np.eye(4)
        pose[0, 3] = 0.1
        record = {
            "id": "pair_0",
            "rgb": self.put_image("source.png", 40),
            "target_rgb": self.put_image("target.png", 80),
            "target_pose": pose.tolist(),
            **keys,
        }
        self.records.append({key: value for key, value in record.items() if value is not None})

    def arrange(self, **options: Any) -> list[Record]:
        header = {"task": "novel_view_synthesis", "pose_convention": "opencv"}
        extra = {"target_intrinsics", "target_depth", "target_depth_scale", "target_mask"}
        manifest = build_manifest(header, self.records, root=self.root, known={*extra, "sources"})
        task = NovelViewSynthesis(NovelViewSynthesisOptions(**options))
        groups = manifest.sequences().values()
        return [
            record
            for group in groups
            for record in task.arrange(manifest.records(group), manifest.files)
        ]

    def load(self, **options: Any) -> list[Sample]:
        task = NovelViewSynthesis(NovelViewSynthesisOptions(**options))
        return [task.load(record, Files(self.root)) for record in self.arrange(**options)]

    def load_one(self, **options: Any) -> Sample:
        (sample,) = self.load(**options)
        return sample


@pytest.fixture
def folder(tmp_path: Path) -> DatasetFolder:
    return DatasetFolder(tmp_path)


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
