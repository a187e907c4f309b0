"""`rpx stack` from the command line, in fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.config import Data
from rpx_core.datasets import open_dataset
from rpx_core.host import Host
from rpx_core.images import decode_depth, decode_labels
from tests.toys.stack_bench import DEPTH, MASKS, STACK_TOYS, StackBench

SGC = "sgc.sgc@sample"


@dataclass(frozen=True)
class Shell:
    """A folder in which commands run that know the toy tasks."""

    folder: Path

    def rpx(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        root = str(Path(__file__).parents[1])
        path = os.pathsep.join([str(self.folder / "site"), root])
        done = subprocess.run(
            [sys.executable, "-m", "rpx_core.cli", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == expect, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: str, expect: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.rpx(*arguments, "--json", expect=expect).stdout)
        return found

    def save(self, task: str, *arguments: str, verb: str = "run") -> str:
        """The directory of a run with saved predictions."""
        saving = ("--set", "execution.save_predictions=true", "--as", "")
        return str(self.json(verb, "--task", task, *arguments, *saving)["runs"][0]["run"])

    def stack(self, *arguments: str, expect: int = 0) -> dict[str, Any]:
        """What a stack says under `--json`."""
        done = self.json("stack", *arguments, expect=expect)
        found: dict[str, Any] = done["runs"][0] if "runs" in done else done["error"]
        return found


def value(outcome: dict[str, Any], address: str = SGC) -> float | None:
    (found,) = (number for number in outcome["numbers"] if number["address"] == address)
    number: float | None = found["value"]
    return number


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("shell")
    STACK_TOYS.install(folder / "site")
    StackBench(folder, Host([], strict=False, warn=print)).write_set()
    return Shell(folder)


@pytest.fixture(scope="module")
def runs(shell: Shell) -> tuple[str, str]:
    return shell.save(MASKS, "--data", "set.json"), shell.save(DEPTH, "--data", "set.json")


def test_a_stack_is_a_run_with_reports(shell: Shell, runs: tuple[str, str]) -> None:
    outcome = shell.stack(*runs, "--data", "set.json", "--by", "phase", "--output", "stacks")
    assert value(outcome) == 1.0
    assert outcome["exit_code"] == 0
    files = {Path(file).name for file in outcome["files"]}
    assert {"result.json", "summary.md", "report.html"} <= files
    directory = shell.folder / outcome["run"]
    assert directory.parent.name == "stacks"
    assert (directory / "journal").is_dir()
    report = json.loads((directory / "report" / "result.json").read_bytes())
    assert [part["value"] for part in report["slices"]] == ["clean", "clutter"]
    assert len(report["worst"][0]["pictures"]) == 2
    page = (directory / "report" / "report.html").read_text(encoding="utf-8")
    assert "masks alone" in page


def test_a_stack_prints_a_table_and_quiet_prints_nothing(
    shell: Shell, runs: tuple[str, str]
) -> None:
    shown = shell.rpx("stack", *runs, "--as", "markdown")
    assert "sgc.coverage" in shown.stdout
    assert "report:" in shown.stdout
    assert shell.rpx("stack", *runs, "--quiet").stdout == ""


def test_a_stack_is_reported_again(shell: Shell, runs: tuple[str, str]) -> None:
    outcome = shell.stack(*runs)
    again = shell.json("report", outcome["run"], "--as", "csv", "--by", "scene")
    names = {Path(file).name for file in again["files"]}
    assert names == {"per_stack.csv", "cells.csv"}


def test_options_of_the_metric_are_set_like_those_of_a_run(
    shell: Shell, runs: tuple[str, str]
) -> None:
    settings = ("--set", "metrics.sgc.name=sgc", "--set", "metrics.sgc.options.tolerance_px=0")
    outcome = shell.stack(*runs, *settings)
    # The toy masks mark the pixel before a change, the toy depth the one after it.
    assert value(outcome) == 0.0


def test_rules_choose_the_measure(shell: Shell, runs: tuple[str, str]) -> None:
    outcome = shell.stack(*runs, "--readiness", "rpx-1")
    assert outcome["primary"] == "sgc.sgc@pooled"


def test_shards_are_partial_and_exit_0(shell: Shell, runs: tuple[str, str]) -> None:
    outcome = shell.stack(*runs, "--shard", "1/2", "--output", "sharded")
    assert not outcome["status"]["complete"]
    assert shell.stack(*runs, "--shard", "2/2", "--output", "sharded")["status"]["complete"]
    fresh = ("--shard", "1/2", "--fresh", "--output", "sharded")
    assert "other shards" in shell.stack(*runs, *fresh, expect=2)["message"]


def test_failed_samples_exit_3_unless_they_may_fail(shell: Shell) -> None:
    broken = ("--data", "set.json", "--set", "options.edge=scene0_clean_0")
    runs = shell.save(MASKS, *broken), shell.save(DEPTH, "--data", "set.json")
    outcome = shell.stack(*runs, expect=3)
    assert outcome["status"]["failed_samples"] == 1
    shell.stack(*runs, "--max-failed", "1")


def test_mistakes_exit_2_with_one_paragraph(shell: Shell, runs: tuple[str, str]) -> None:
    error = shell.stack(runs[0], runs[0], expect=2)
    assert "are both runs of object_segmentation" in error["message"]
    assert "rpx report" in error["hint"]
    told = shell.rpx("stack", runs[0], "nowhere", expect=2).stderr
    assert "'nowhere' does not exist" in told
    assert "Traceback" not in told
    assert "RUN_SEG RUN_DEPTH" in shell.rpx("stack", expect=2).stderr


def test_the_list_of_metrics_says_what_each_combines(shell: Shell) -> None:
    (entry,) = shell.json("list", "metrics", "rpx-core/sgc-published")["metrics"]
    assert entry["combines"] == [
        ["object_segmentation", "semantic_segmentation"],
        ["monocular_depth"],
    ]
    shown = " ".join(shell.rpx("list", "metrics", "rpx-core/sgc").stdout.split())
    assert "[object_segmentation or semantic_segmentation + monocular_depth]" in shown


@pytest.mark.slow
def test_true_masks_fit_true_depth_of_the_demo_better_than_moved_ones(shell: Shell) -> None:
    pytest.importorskip("rpx_depth", reason="comes with rpx-depth", exc_type=ModuleNotFoundError)
    write_demo_predictions(shell.folder, frames=12)
    selection = ("--data", "demo", "--limit", "12")
    depth, *masks = (
        shell.save(task, *selection, "--predictions", folder, verb="score")
        for task, folder in (
            ("rpx-depth/monocular_depth", "depth"),
            (MASKS, "masks"),
            (MASKS, "moved"),
        )
    )
    true, moved = (shell.stack(run, depth, "--data", "demo") for run in masks)
    assert value(true, "sgc.coverage@sample") == 1.0
    assert (value(true, "sgc.precision@sample") or 0) > 0.5
    assert (value(true) or 0) > 2 * (value(moved) or 1)


@pytest.mark.slow
def test_models_without_weights_make_a_stack_with_a_number_and_pictures(shell: Shell) -> None:
    pytest.importorskip("rpx_depth", reason="comes with rpx-depth", exc_type=ModuleNotFoundError)
    pytest.importorskip("rpx_seg", reason="comes with rpx-seg", exc_type=ModuleNotFoundError)
    selection = ("--data", "demo", "--limit", "9")
    masks = shell.save("rpx-seg/object_segmentation", *selection)
    depth = shell.save("rpx-depth/monocular_depth", *selection, "--model", "standing-objects")
    outcome = shell.stack(masks, depth, "--data", "demo")
    assert (value(outcome) or 0) > 0.2
    assert value(outcome, "sgc.coverage@sample") == 1
    page = (shell.folder / outcome["run"] / "report" / "report.html").read_text("utf-8")
    assert "masks alone" in page


def write_demo_predictions(folder: Path, frames: int) -> None:
    """True depth without holes, true masks, and masks moved by 12 pixels, of the first frames."""
    manifest = open_dataset(Host.discover(), Data(name="demo"))
    entries = sorted(manifest.entries, key=lambda entry: entry.id)[:frames]
    for name in ("depth", "masks", "moved"):
        (folder / name).mkdir()
    for record in manifest.records(entries):
        depth, mask = (
            decode(manifest.files.read(record.assets[key]), name=key)
            for key, decode in (("depth", decode_depth), ("mask", decode_labels))
        )
        np.save(folder / "depth" / f"{record.id}.npy", fill_holes(depth))
        np.save(folder / "masks" / f"{record.id}.npy", mask)
        np.save(folder / "moved" / f"{record.id}.npy", np.roll(mask, 12, axis=1))


def fill_holes(depth: np.ndarray) -> np.ndarray:
    """Each hole takes the next depth to its left, at the border 5 m."""
    filled = depth.copy()
    filled[:, 0] = np.where(filled[:, 0] > 0, filled[:, 0], 5)
    columns = np.where(filled > 0, np.arange(depth.shape[1]), 0)
    return np.take_along_axis(filled, np.maximum.accumulate(columns, axis=1), axis=1)
