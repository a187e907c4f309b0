"""The plugin as the engine meets it: specs, runs, protocols, scoring of files, real images."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.config import build_config
from rpx_core.contracts import Sample
from rpx_core.host import Host
from rpx_core.images import encode_png
from rpx_core.layers import Layers, make_plans
from rpx_core.models import files_model
from rpx_core.protocols import load_protocol
from rpx_core.run import Request
from rpx_core.run import run as evaluate
from rpx_core.state import fold
from rpx_core.testing import conformance
from rpx_detection.metrics.average_precision import CocoDetection
from rpx_detection.metrics.grounding import GroundingAccuracy
from rpx_detection.models import blobs
from rpx_detection.types import (
    DetectionPrediction,
    GroundingQuery,
    VisualGroundingGroundTruth,
)

REAL = json.loads((Path(__file__).parent / "data" / "real_boxes.json").read_bytes())
CHECKS = conformance("rpx-detection", allow_missing_extras=True)
RED, BLUE, TABLE = (204, 33, 28), (31, 69, 189), (150, 118, 88)


@pytest.fixture(scope="module")
def host() -> Host:
    return Host.discover()


@pytest.fixture
def dataset(tmp_path) -> Path:
    """Two sequences of two frames: a red and a blue cone on a table."""
    samples = []
    for number in range(4):
        rgb = np.full((120, 160, 3), TABLE, np.uint8)
        boxes = []
        for colour, x in ((RED, 40), (BLUE, 110 + 4 * number)):
            for half in range(2, 20):
                rgb[40 + 2 * half : 42 + 2 * half, x - half : x + half] = colour
            boxes.append([x - 19, 44, x + 19, 80])
        (tmp_path / f"{number}.png").write_bytes(encode_png(rgb))
        samples.append(
            {
                "id": f"s{number // 2}_clutter_{number % 2}",
                "scene": f"s{number // 2}",
                "phase": "clutter",
                "difficulty": "easy",
                "rgb": f"{number}.png",
                "boxes": [{"bbox": box, "label": "cone"} for box in boxes],
                "expressions": [
                    {"text": "the red cone", "boxes": boxes[:1]},
                    {"text": "the rightmost cone", "boxes": boxes[1:]},
                    {"text": "the green mug", "boxes": []},
                ],
            }
        )
    document = {
        "tasks": ["object_detection", "open_vocab_detection", "visual_grounding"],
        "defaults": {"vocabulary": ["cone", "mug"]},
        "samples": samples,
    }
    (tmp_path / "set.json").write_text(json.dumps(document), encoding="utf-8")
    return tmp_path / "set.json"


def run_numbers(host: Host, settings: dict, folder: Path, model=None) -> dict[str, float | None]:
    layers = Layers({"execution": {"save_predictions": model is None}, **settings}, {})
    (plan,) = make_plans(host, layers, folder / "runs", model=model)
    outcome = evaluate(plan, host, Request(reporters=("json",)))
    assert outcome.exit_code == 0, outcome
    result = json.loads(next(plan.directory.glob("report/result.json")).read_bytes())
    report = result.get("report", result)
    return {number["address"]: number["value"] for number in report["numbers"]}


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conformance(check):
    check()


def test_baseline_finds_the_cones(host, dataset):
    settings = {"task": "object_detection", "data": {"name": str(dataset)}}
    numbers = run_numbers(host, settings, dataset.parent)
    assert numbers["ap.ap@pooled"] == 1.0
    assert numbers["f1.f1@sample"] == 1.0
    assert numbers["checks.detections_per_image@pooled"] == 2.0


def test_open_vocabulary_is_told_the_classes(host, dataset):
    settings = {"task": "open_vocab_detection", "data": {"name": str(dataset)}}
    numbers = run_numbers(host, settings, dataset.parent)
    assert numbers["ap.ap50@pooled"] == 1.0
    assert numbers["checks.unknown_labels@pooled"] == 0.0


def test_grounding_makes_a_sample_of_every_expression(host, dataset):
    settings = {"task": "visual_grounding", "data": {"name": str(dataset)}}
    numbers = run_numbers(host, settings, dataset.parent)
    assert numbers["grounding.acc75@pooled"] == 1.0
    assert numbers["grounding.refusal@pooled"] == 1.0


@pytest.mark.parametrize("task", ["object_detection", "visual_grounding"])
def test_saved_predictions_score_as_the_run_did(host, dataset, task):
    settings = {"task": task, "data": {"name": str(dataset)}}
    first = run_numbers(host, settings, dataset.parent)
    (saved,) = dataset.parent.glob("runs/*/predictions")
    again = run_numbers(host, settings, dataset.parent / "again", model=files_model(saved))
    assert again == first


def test_coco_protocol_sets_metrics_and_options(host):
    protocol = load_protocol(host.find("protocol", "coco-1"))
    config = build_config(protocol.layer, source="test")
    assert {label: named.name for label, named in config.metrics.items()} == {
        "coco": "coco-detection",
        "checks": "detection-checks",
    }
    assert config.primary == "coco.ap"
    assert config.options == {"labels": "exact"}
    assert protocol.departures(config) == ()


def test_coco_protocol_gives_the_twelve_numbers(host, dataset):
    protocol = load_protocol(host.find("protocol", "coco-1"))
    settings = {**protocol.layer, "data": {"name": str(dataset)}}
    numbers = run_numbers(host, settings, dataset.parent)
    twelve = [name for name in numbers if name.startswith(("coco.ap", "coco.ar"))]
    assert len([name for name in twelve if name.endswith("@pooled")]) == 12
    assert numbers["coco.ap@pooled"] == pytest.approx(1)
    assert numbers["coco.ar1@pooled"] == pytest.approx(0.5)


def real_image(name: str) -> np.ndarray:
    from skimage import data

    return getattr(data, name)()


def test_hand_drawn_boxes_fit_their_images(truth, pooled):
    images = []
    for name, entry in REAL["images"].items():
        height, width = real_image(name).shape[:2]
        objects = truth(*((box["label"], box["bbox"]) for box in entry["boxes"]))
        assert (objects.boxes[:, :2] >= 0).all()
        assert (objects.boxes[:, 2:] <= (width, height)).all()
        exact = DetectionPrediction(objects.boxes, np.ones(len(objects.boxes)), objects.labels)
        images.append((objects, exact))
    values = pooled(CocoDetection(), *images)
    assert values["ap"] == pytest.approx(1)
    assert values["classes"] == len(REAL["vocabulary"])


def test_blobs_ground_colours_in_photographs():
    model = blobs.load_grounder(blobs.BlobsOptions(), None)
    model.setup()
    metric = GroundingAccuracy()
    states = {}
    for name, entry in REAL["images"].items():
        rgb = real_image(name)
        for expression in entry["expressions"]:
            text = expression["text"]
            boxes = np.array(expression["boxes"], np.float64).reshape(-1, 4)
            (answer,) = model.predict([Sample(name, rgb, query=GroundingQuery(text))])
            states[text] = metric.measure(
                Sample(name), VisualGroundingGroundTruth(text, boxes), answer
            )
    assert metric.result(states["the large red thing"])["acc75"] == 1.0
    assert metric.result(states["the rightmost purple thing"])["acc50"] == 1.0
    values = metric.result(fold(list(states.values())))
    assert values["refusal"] == 1.0
    # It knows colours and table-top shapes, not spoons or helmets.
    assert values["acc50"] == 0.5
