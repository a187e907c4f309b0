"""Values that are no names, places, poses or samples: one RPXError where they enter."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rpx_core as rpx
from rpx_core.demo import write_motorcycle
from rpx_core.sample_fields import check_fields

DEPTH = np.ones((4, 6), np.float32)
LONG = "a" * 5000
NAMES = [None, 5, LONG, "a\0b", "\ud800", f"hf:{LONG}", "hf:a\0b"]


def nested(depth: int) -> dict[str, Any]:
    outer: dict[str, Any] = {}
    inner = outer
    for _ in range(depth):
        inner["in"] = {}
        inner = inner["in"]
    return outer


def itself() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["me"] = found
    return found


ASK: list[Callable[[Any], object]] = [
    rpx.get_factory,
    lambda name: rpx.resolve(name, device="cpu"),
    lambda name: rpx.compute_metrics(name, DEPTH, DEPTH),
    lambda name: rpx.validate_prediction(name, DEPTH, rpx.Sample("a")),
    lambda name: rpx.RPXDataset.from_name(name, task="monocular_depth"),
    rpx.RPXDataset.from_manifest,
    rpx.make_hf_depth_model,
    rpx.make_hf_instance_seg_model,
]


@pytest.mark.parametrize("ask", range(len(ASK)))
@pytest.mark.parametrize(
    "name", NAMES, ids=["None", "int", "long", "nul", "half", "hf-long", "hf-nul"]
)
def test_what_can_be_no_name_is_one_error(ask: int, name: Any) -> None:
    with pytest.raises(rpx.RPXError):
        ASK[ask](name)


@pytest.mark.parametrize(
    "place", ["a" * 300, "a\0b", "\ud800", None, 5], ids=["long", "nul", "half", "None", "int"]
)
def test_what_can_be_no_folder_of_runs_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    manifest = write_motorcycle(tmp_path)
    with pytest.raises(rpx.RPXError, match=r"folder of a run|output_dir"):
        rpx.run_monocular_depth(
            rpx.MonocularDepthRunConfig(
                manifest_path=manifest, model_name="mean-depth", output_dir=place
            )
        )


def test_a_path_of_a_manifest_that_is_none_is_one_error() -> None:
    with pytest.raises(rpx.RPXError, match="manifest_path is an int"):
        rpx.MonocularDepthRunConfig(
            model_name="mean-depth",
            manifest_path=5,  # type: ignore[arg-type]  # that is the point
        )


@pytest.mark.parametrize("extra", [itself(), nested(5000)], ids=["itself", "deep"])
def test_what_json_cannot_nest_is_one_error(tmp_path: Path, extra: dict[str, Any]) -> None:
    with pytest.raises(rpx.RPXError, match="holds itself, or is nested"):
        rpx.write_json(
            tmp_path / "a.json",
            task="monocular_depth",
            model_name="a",
            split="all",
            repo_id="a",
            result=rpx.BenchmarkResult("monocular_depth", [], {}, 0),
            extra=extra,
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "pose", [np.zeros((4, 4)), np.ones((4, 4)), np.full((4, 4), np.nan), np.eye(3), "pose"]
)
def test_what_is_no_pose_of_a_camera_is_a_metric_error(pose: Any) -> None:
    with pytest.raises(rpx.MetricError, match="a camera pose is"):
        rpx.compute_temporal_stability_depth([DEPTH, DEPTH], [pose, np.eye(4)])
    labels = DEPTH.astype(int)
    with pytest.raises(rpx.MetricError, match="a camera pose is"):
        rpx.compute_temporal_stability_seg([labels, labels], [pose, np.eye(4)])


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("id", 5, "the `id` of a sample is an int"),
        ("id", None, "the `id` of a sample is None"),
        ("camera_pose", "pose", "`camera_pose` is a str; a 4x4"),
        ("camera_pose", np.eye(3), r"`camera_pose` is of shape \(3, 3\)"),
        ("intrinsics", [[1.0]], "`intrinsics` is a list; a 3x3"),
        ("intrinsics", np.full((3, 3), None), "`intrinsics` is object"),
        ("metadata", [1], "`metadata` is a list"),
        ("metadata", {"lock": threading.Lock()}, "`metadata` cannot be copied"),
        ("metadata", nested(5000), "`metadata` cannot be copied"),
    ],
)
def test_a_field_of_a_sample_that_is_no_such_thing_is_named(
    field: str, value: Any, words: str
) -> None:
    given = {"id": "a", "ground_truth": rpx.DepthGroundTruth(DEPTH), field: value}
    sample = rpx.Sample(**given)
    with pytest.raises(rpx.ManifestError, match=words):
        rpx.RPXDataset([sample], "monocular_depth")
    with pytest.raises(rpx.ManifestError, match=words):
        rpx.compute_metrics("monocular_depth", DEPTH, DEPTH, sample)


def test_fields_that_are_what_they_should_be_pass() -> None:
    check_fields(rpx.Sample("a"))
    metadata = {"weather": "rain", "picture": DEPTH}
    check_fields(
        rpx.Sample("a", camera_pose=np.eye(4), intrinsics=np.eye(3, dtype=int), metadata=metadata)
    )
