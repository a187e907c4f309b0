"""Writer and reader of manifests agree: for every task, the truth of two samples scores perfectly.

RW-131 of the collected cases: published manifests used other names and keys than their loader, so
that every consumer failed. Two frames are written with the shipped writer, loaded with the shipped
loader, and their ground truth is scored as prediction files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rpx_core as rpx
from rpx_core.demo.catalogue import CATEGORIES
from rpx_core.documents import write_json
from rpx_core.host import Host
from rpx_core.layers import Layers, make_plans
from rpx_core.manifest import build_manifest, manifest_document
from rpx_core.models import files_model
from rpx_core.parts import resolve_part
from rpx_core.plan import Plan
from rpx_core.predictions import file_stem
from rpx_core.run import Request, run
from tests.hub_sets import Records, draw_frames

Answer = Callable[[Any], Any]


def as_detections(truth: Any) -> Any:
    return rpx.DetectionPrediction(truth.boxes, np.ones(len(truth.boxes)), truth.labels)


def as_trajectory(truth: Any) -> Any:
    from rpx_pose.types import TrajectoryPrediction

    return TrajectoryPrediction(truth)


def as_classes(truth: Any) -> Any:
    from rpx_seg.types import SemanticPrediction

    return SemanticPrediction(truth.mask)


ANSWERS: Mapping[str, Answer] = {
    "monocular_depth": lambda t: rpx.DepthPrediction(t.depth_map),
    "sparse_depth": lambda t: rpx.SparseDepthPrediction(t.coordinates, t.depths),
    "object_segmentation": lambda t: rpx.SegmentationPrediction(t.mask),
    "semantic_segmentation": as_classes,
    "object_detection": as_detections,
    "open_vocab_detection": as_detections,
    "visual_grounding": lambda t: rpx.VisualGroundingPrediction(t.boxes, np.ones(len(t.boxes))),
    "object_tracking": lambda t: rpx.TrackletPrediction(t.tracks),
    "relative_camera_pose": lambda t: rpx.RelativePosePrediction(t.rotation, t.translation),
    "keypoint_matching": lambda t: rpx.KeypointCorrespondencePrediction(
        t.points0[t.visibility], t.points1[t.visibility]
    ),
    "novel_view_synthesis": lambda t: rpx.NovelViewSynthesisPrediction(t.rgb),
    "trajectory": as_trajectory,
}
PAIRS = frozenset({"relative_camera_pose", "keypoint_matching", "novel_view_synthesis"})
BOUND_BY_THE_SCENE = frozenset({"ts_coverage", "ar1"})
"""What not even the truth reaches: pixels leave the view, and one box finds one of several."""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Records]:
    """One scene of the demo."""
    folder = tmp_path_factory.mktemp("drawn")
    return folder, draw_frames(folder, [8])


@pytest.fixture(scope="module")
def host() -> Host:
    return Host.discover()


def test_every_installed_task_is_tried(host: Host) -> None:
    assert {offer.spec.name for offer in host.offers("task").values()} == set(ANSWERS)


@pytest.mark.parametrize("task", ANSWERS)
def test_the_truth_of_two_samples_is_perfect(
    task: str, drawn: tuple[Path, Records], host: Host, tmp_path: Path
) -> None:
    folder, records = drawn
    path = write(folder, task, records)
    save_truth(path, task, host, tmp_path / "truth")
    plan = plan_scoring(path, task, host, tmp_path)
    report = run(plan, host, Request(reporters=())).report
    status, (primary,) = report.status, [n for n in report.numbers if n.address == report.primary]
    assert (status.evaluated_samples, status.failed) == (2, 0)
    assert (primary.undefined, primary.failed) == (0, 0)
    for number in report.numbers:
        best = plan.metrics[number.label].outputs[number.output].best
        if number.output in BOUND_BY_THE_SCENE:
            continue
        if best is not None and math.isinf(best):
            assert number.value is None
            assert number.infinite > 0
        elif best is not None and number.value is not None:
            assert number.value == pytest.approx(best, abs=1e-5), number.address


def write(folder: Path, task: str, records: Records) -> Path:
    """The frames that make two samples of a task, in a manifest of their own."""
    # Three frames make two pairs, and a trajectory is a sample of its own.
    chosen = records[: 3 if task in PAIRS else 2]
    chosen = [*records[:3], *records[6:9]] if task == "trajectory" else chosen
    # Each expression is a sample: one of each frame.
    first = {"visual_grounding": lambda name: json.loads((folder / name).read_bytes())[:1]}
    inline = first.get(task, lambda name: name)
    frames = [{**one, "expressions": inline(one["expressions"])} for one in chosen]
    header = {"task": task, "pose_convention": "opencv", "vocabulary": list(CATEGORIES)}
    manifest = build_manifest(header, frames, root=folder)
    path = folder / f"{task}.json"
    write_json(path, manifest_document(manifest, beside=path))
    return path


def save_truth(path: Path, task: str, host: Host, folder: Path) -> None:
    """Prediction files that hold the ground truth, as a run would have saved them."""
    part = resolve_part(host.find("task", task), {}, field_name="task")
    built = part.build()
    folder.mkdir()
    for (sample,) in rpx.RPXDataset.from_manifest(path):
        content = built.write_prediction(ANSWERS[task](sample.ground_truth))
        (folder / f"{file_stem(sample.id)}{built.suffix}").write_bytes(content)


def plan_scoring(path: Path, task: str, host: Host, folder: Path) -> Plan:
    layers = Layers({"task": task, "data": str(path)}, {})
    (plan,) = make_plans(host, layers, folder / "runs", model=files_model(folder / "truth"))
    return plan
