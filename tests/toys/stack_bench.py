"""A bench for stacks: small scenes with masks and depth, two toy tasks, runs in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rpx_core.arrays import encode_npy
from rpx_core.config import build_config, merge_layers
from rpx_core.host import Host
from rpx_core.images import encode_png
from rpx_core.plan import make_plan
from rpx_core.run import Outcome, Request, run
from rpx_core.stack.plan import StackPlan, make_stack_plan
from rpx_core.stack.run import run_stack
from tests.toys.bench import QUIET
from tests.toys.site import Toys

STACK_TOYS = Toys(Path(__file__).parent / "stack", "toy-stack", "toy_stack")
SHAPE = (12, 24)
MASKS, DEPTH = "toy-stack/object_segmentation", "toy-stack/monocular_depth"
NO_PICTURES = {"execution": {"previews": 0}}


@dataclass(frozen=True)
class StackBench:
    """A folder for data and runs, and the host that knows the toy tasks."""

    folder: Path
    host: Host

    def write_set(
        self, name: str = "set", *, scenes: int = 2, seed: int = 0, prefix: str = ""
    ) -> None:
        """A manifest of scenes in two phases of two frames, each a near box before a far wall.

        Images depend on the sample and the seed alone; a prefix makes other ids of them.
        """
        samples = [
            self._write_sample(name, seed, f"scene{scene}", phase, frame)
            for scene in range(scenes)
            for phase in ("clutter", "clean")
            for frame in range(2)
        ]
        for sample in samples:
            sample["id"] = f"{prefix}{sample['id']}"
        document = {"tasks": ["object_segmentation", "monocular_depth", "toy_flat"]}
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({**document, "samples": samples}), encoding="utf-8")

    def data(self, name: str = "set", **more: Any) -> dict[str, Any]:
        """A manifest as a configuration names it."""
        return {"name": str(self.folder / f"{name}.json"), **more}

    def run(self, task: str, request: Request = QUIET, **layer: Any) -> Path:
        """The directory of a run of a toy task that saves its predictions."""
        return self.outcome(task, request, **layer).directory

    def outcome(self, task: str, request: Request = QUIET, **layer: Any) -> Outcome:
        """The same with what it says."""
        usual = {
            "task": task,
            "data": self.data(),
            "execution": {"save_predictions": True, "previews": 0},
        }
        config = build_config(merge_layers(layer, usual), source="test")
        return run(make_plan(config, self.host, self.folder / "runs"), self.host, request)

    def plan(self, *runs: Path, output: str = "stacks", **layer: Any) -> StackPlan:
        """The plan of a stack; without pictures, unless it says otherwise."""
        config = build_config(layer or NO_PICTURES, source="test")
        return make_stack_plan(config, self.host, runs, self.folder / output)

    def stack(
        self, *runs: Path, request: Request = QUIET, output: str = "stacks", **layer: Any
    ) -> Outcome:
        """Plan and run."""
        return run_stack(self.plan(*runs, output=output, **layer), self.host, request)

    def _write_sample(
        self, name: str, seed: int, scene: str, phase: str, frame: int
    ) -> dict[str, Any]:
        identifier = f"{scene}_{phase}_{frame}"
        left = 4 + 3 * frame + int(scene.removeprefix("scene"))
        mask = np.zeros(SHAPE, np.int32)
        mask[:, left : left + 6] = 1
        depth = np.where(mask, 1.0, 3.0).astype(np.float32)
        rng = np.random.default_rng([seed, *identifier.encode()])
        files = {
            "rgb": (encode_png(rng.integers(0, 255, (*SHAPE, 3), dtype=np.uint8)), "png"),
            "mask": (encode_npy(mask), "npy"),
            "depth": (encode_npy(depth), "npy"),
        }
        record: dict[str, Any] = {
            "id": identifier,
            "scene": scene,
            "phase": phase,
            "difficulty": "hard",
        }
        record["metadata"] = {"site": "lab"}
        for key, (content, ending) in files.items():
            path = self.folder / name / key / f"{identifier}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            record[key] = path.relative_to(self.folder).as_posix()
        return record
