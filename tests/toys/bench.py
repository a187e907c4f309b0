"""A bench for whole runs inside this process: the toy task, its models and metrics, quickly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpx_core.host import Host
from rpx_core.layers import Layers, make_plans
from rpx_core.plan import Plan
from rpx_core.report import Report
from rpx_core.run import Outcome, Request, run
from tests.toys.lab import VOLATILE, toy_samples

QUIET = Request(reporters=())
"""A run that renders nothing: what is tested is in the outcome."""


@dataclass(frozen=True)
class Bench:
    """A folder for data and runs, and the host that knows the toy plugin."""

    folder: Path
    host: Host

    def write_set(self, samples: Sequence[Mapping[str, Any]] | None = None, **header: Any) -> Path:
        """A manifest of the samples, by default some in every phase and tier."""
        path = self.folder / "set.json"
        document = {"task": "toy_level", **header, "samples": samples or toy_samples()}
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def plan(self, *, runs: str = "runs", **layer: Any) -> Plan:
        """The plan of a configuration; the data is `set.json` unless it says otherwise."""
        quick = {
            "task": "toy_level",
            "data": str(self.folder / "set.json"),
            "execution": {"previews": 0},
        }
        layers = Layers(layer, quick)
        (plan,) = make_plans(self.host, layers, self.folder / runs)
        return plan

    def run(self, request: Request = QUIET, *, runs: str = "runs", **layer: Any) -> Outcome:
        """Plan and run."""
        return run(self.plan(runs=runs, **layer), self.host, request)


def facts(report: Report, *leave_out: str) -> dict[str, Any]:
    """All that a report says, but who wrote it."""
    return report.model_dump(mode="json", exclude={*VOLATILE, *leave_out})


def value(report: Report, address: str) -> float | None:
    """One number of a report."""
    return report.number(address).value


def failures(report: Report) -> dict[str, tuple[str, str]]:
    """Stage and message by the id of what failed."""
    return {failed.id: (failed.failure.stage, failed.failure.message) for failed in report.failures}


def in_scene(scene: int, phase: str, frames: Sequence[int]) -> list[str]:
    """Ids of toy samples."""
    return [f"scene{scene}_{phase}_{frame}" for frame in frames]


def copy_run(source: Path, target: Path) -> Path:
    """A copy of a run directory without what is derived."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("report", "previews"))
    return target
