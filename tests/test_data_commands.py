"""`rpx data check` and `rpx list KIND NAME`: what they tell before anything is evaluated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rpx_core.cli import invoke
from rpx_core.images import encode_png
from tests.commands import rpx


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two depth frames below `data`, and a manifest of them elsewhere."""
    (tmp_path / "data").mkdir()
    (tmp_path / "lists").mkdir()
    samples = []
    for frame in range(2):
        image = np.full((12, 16, 3), 40 * frame, np.uint8)
        (tmp_path / f"data/{frame}.png").write_bytes(encode_png(image))
        (tmp_path / f"data/d{frame}.png").write_bytes(
            encode_png(np.full((12, 16), 2500, np.uint16))
        )
        samples.append({"id": f"s_{frame}", "rgb": f"{frame}.png", "depth": f"d{frame}.png"})
    write(tmp_path, samples)
    return tmp_path


def write(folder: Path, samples: list[dict[str, Any]], **header: Any) -> None:
    manifest = {"task": "monocular_depth", **header, "samples": samples}
    (folder / "lists/set.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_files_are_looked_for_below_the_root_that_is_given(folder: Path) -> None:
    lost = rpx(folder, "data", "check", "lists/set.json", expect=2)
    assert len(lost["problems"]) == 2
    found = rpx(folder, "data", "check", "lists/set.json", "--root", "data")
    assert (found["samples"], found["problems"]) == (2, [])


def test_the_depth_scale_and_what_it_gives_are_told(folder: Path) -> None:
    (told,) = rpx(folder, "data", "check", "lists/set.json", "--root", "data")["depth"]
    assert "depth of 2 records: no depth_scale is declared" in told
    assert "the median is 2.5 m" in told
    samples = json.loads((folder / "lists/set.json").read_bytes())["samples"]
    samples[1]["depth_scale"] = 0.0002
    write(folder, samples)
    told = rpx(folder, "data", "check", "lists/set.json", "--root", "data")["depth"]
    assert [line.split(":")[0] for line in told] == ["depth of 1 record"] * 2
    assert "depth_scale 0.0002 m per unit, as declared; of the first map, 90 % reads 0.5" in told[1]


def test_options_of_the_task_are_set_as_for_a_run(folder: Path) -> None:
    arguments = ("data", "check", "lists/set.json", "--root", "data")
    told = rpx(folder, *arguments, "--set", "options.max_deph=2", expect=2)
    assert "options.max_deph" in told["error"]["message"]
    assert rpx(folder, *arguments, "--set", "options.max_depth=2")["samples"] == 2


def test_the_whole_name_of_a_layout_shows_its_options(folder: Path) -> None:
    (entry,) = rpx(folder, "list", "datasets", "kitti")["datasets"]
    options = {option["name"]: option for option in entry["options"]}
    assert options["root"]["required"]
    assert options["split"]["default"] == '"val"'
    part = rpx(folder, "list", "datasets", "kit")["datasets"]
    assert "options" not in part[0]
    assert rpx(folder, "list", "datasets", "demo")["datasets"][0]["options"] == []


def test_a_dataset_without_samples_is_a_problem(folder: Path) -> None:
    (folder / "empty.json").write_text('{"task": "monocular_depth", "samples": []}')
    told = rpx(folder, "data", "check", "empty.json", expect=2)
    assert told["problems"] == ["empty has no samples, and a run needs some"]


def test_a_misspelt_path_of_a_manifest_is_no_name_of_a_dataset(folder: Path) -> None:
    told = rpx(folder, "data", "check", "lists/set.jso", expect=2)["error"]
    assert told["message"] == "lists/set.jso: there is no such file, nor a dataset of that name"
    assert told["hint"] == "did you mean lists/set.json?"


def test_one_of_a_thing_is_said_in_the_singular(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, json.loads((folder / "lists/set.json").read_bytes())["samples"][:1])
    assert invoke(["data", "check", str(folder / "lists/set.json")]) == 2
    assert capsys.readouterr().out.endswith("\n1 sample read, 1 problem\n")
