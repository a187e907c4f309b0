"""A laboratory for whole runs: the toy task on generated manifests, in fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.toys.site import Toys

TOYS = Toys(Path(__file__).parent / "engine", "toy-engine", "toy_engine")
VOLATILE = ("writers",)
"""Parts of a report that say who wrote it rather than what it says."""


@dataclass(frozen=True)
class Lab:
    """A folder with an installed toy plugin, a manifest, and runs."""

    folder: Path

    @property
    def manifest(self) -> Path:
        return self.folder / "set.json"

    @property
    def environment(self) -> dict[str, str]:
        """A process that finds the toy plugin beside what is installed."""
        site = str(self.folder / "site")
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join([site, root])
        return {**os.environ, "PYTHONPATH": path, "RPX_CACHE_DIR": str(self.folder / "cache")}

    def write_manifest(self, samples: Sequence[Mapping[str, Any]], **header: Any) -> Path:
        document = {"task": "toy_level", **header, "samples": list(samples)}
        self.manifest.write_text(json.dumps(document), encoding="utf-8")
        return self.manifest

    def command(self, *arguments: str, verb: str = "run", runs: str = "runs") -> list[str]:
        """An rpx command on the lab's manifest; `run` and `score` are told where everything is."""
        command = [sys.executable, "-m", "rpx_core.cli", verb]
        if verb in {"run", "score"}:
            command += ["--output", str(self.folder / runs)]
            if "--data" not in arguments:
                command += ["--data", str(self.manifest)]
        return [*command, *arguments]

    def rpx(
        self, *arguments: str, verb: str = "run", runs: str = "runs"
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, in the lab's folder."""
        return subprocess.run(
            self.command(*arguments, verb=verb, runs=runs),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def run_directory(self, runs: str = "runs") -> Path:
        """The only run directory there is."""
        (directory,) = (self.folder / runs).iterdir()
        return directory

    def report(self, runs: str = "runs") -> dict[str, Any]:
        """The report of the only run, without what says who wrote it."""
        return read_report(self.run_directory(runs))

    def number(self, address: str, runs: str = "runs") -> dict[str, Any]:
        """One number of the report."""
        found: list[dict[str, Any]] = [
            number for number in self.report(runs)["numbers"] if number["address"] == address
        ]
        return found[0]


def read_report(directory: Path) -> dict[str, Any]:
    """The report of a run, without what says who wrote it."""
    path = directory / "report" / "result.json"
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in report.items() if key not in VOLATILE}


def open_lab(folder: Path) -> Lab:
    """A lab with the toy plugin installed as a distribution would be."""
    TOYS.install(folder / "site")
    return Lab(folder)


def toy_samples(scenes: int = 3, frames: int = 5) -> list[dict[str, Any]]:
    """Samples in every phase and tier, with metadata to slice by."""
    tiers = ("easy", "medium", "hard")
    return [
        {
            "id": f"scene{scene}_{phase}_{frame}",
            "scene": f"scene{scene}",
            "phase": phase,
            "difficulty": tiers[scene % 3],
            "level": scene * 10 + index + frame * 1.5,
            "metadata": {"site": "lab" if scene % 2 else "kitchen"},
        }
        for scene in range(scenes)
        for index, phase in enumerate(("clutter", "interaction", "clean"))
        for frame in range(frames)
    ]
