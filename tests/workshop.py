"""A workshop for learned models: tiny checkpoints, whole runs in this process, blind samples."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rpx_core.contracts import BlindSample, Runtime, withhold
from rpx_core.host import Host
from rpx_core.layers import Layers, make_plans
from rpx_core.plan import Plan
from rpx_core.run import Outcome, Request, run
from tests import tiny_checkpoints

QUIET = Request(reporters=())
needs_torchvision = pytest.mark.skipif(
    importlib.util.find_spec("torchvision") is None,
    reason="without torchvision these processors of transformers fail; `nox -s models` has it",
)
SEED = 3


@dataclass
class Workshop:
    """A folder for checkpoints and runs."""

    folder: Path
    host: Host
    checkpoints: dict[str, Path] = field(default_factory=dict)

    def checkpoint(self, kind: str) -> Path:
        """A tiny checkpoint of a kind, written once."""
        if kind not in self.checkpoints:
            self.checkpoints[kind] = tiny_checkpoints.write(self.folder / "checkpoints", kind)
        return self.checkpoints[kind]

    def plan(self, model: Any, **layer: Any) -> Plan:
        """The only plan of a configuration, by default of four samples of the demo."""
        quick = {"model": model, "data": {"name": "demo", "limit": 4}}
        (plan,) = make_plans(self.host, Layers(layer, quick), self.folder / "runs")
        return plan

    def run(self, model: Any, request: Request = QUIET, **layer: Any) -> Outcome:
        """Plan and run."""
        return run(self.plan(model, **layer), self.host, request)

    def samples(self, task: str, *, count: int = 4, data: str = "demo") -> list[BlindSample]:
        """Samples as a model gets them: touching their truth raises."""
        chosen = {"name": data, "limit": count} if data == "demo" else data
        plan = self.plan(None, task=task, data=chosen)
        loader = plan.job.task.build()
        records = [record for work in plan.work(list(plan.samples)) for record in work.records]
        return [withhold(loader.load(record, plan.job.files)) for record in records]


def runtime(task: str, device: str = "cpu") -> Runtime:
    """What a model is told of where it runs."""
    return Runtime(device=device, seed=SEED, cache=Path(), task=task)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A workshop with a cache of its own."""
    folder = tmp_path_factory.mktemp("workshop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RPX_CACHE_DIR", str(folder / "cache"))
        # Nothing here may ask the hub.
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield Workshop(folder, Host.discover())
