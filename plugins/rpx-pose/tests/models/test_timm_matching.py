"""Backbones of timm as matchers and pose estimators, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch

from rpx_core.errors import ConfigError, DownloadError, ModelError
from rpx_core.inference.devices import place
from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
from rpx_pose.models.timm_backbone import Backbone
from rpx_pose.models.timm_dense import TimmOptions, load
from tests.workshop import Workshop, runtime

RANDOM = {"pretrained": False}
ARCHITECTURES = (
    "resnet18",
    "convnext_atto",
    "vit_tiny_patch16_224",
    "swin_tiny_patch4_window7_224",
)


def named(architecture: str, model: str = "timm", **options: Any) -> dict[str, Any]:
    return {"name": f"{model}:{architecture}", "options": {**RANDOM, **options}}


def build(architecture: str, **options: Any) -> Any:
    model = load(TimmOptions(architecture=architecture, **{**RANDOM, **options}), runtime("x"))
    model.setup()
    return model


@pytest.mark.parametrize("name", ["timm", "timm-dense"])
def test_a_real_pair_becomes_a_whole_report(workshop: Workshop, name: str) -> None:
    outcome = workshop.run(
        named("resnet18", name), Request(reporters=DEFAULT_REPORTERS), data="motorcycle"
    )
    assert outcome.report.status.failed_samples == 0
    assert outcome.report.run.model == f"rpx-pose/{name}:resnet18"
    (writer,) = outcome.report.writers
    assert writer.model["checkpoint"] == "random"
    assert writer.model["stride_px"] == "8"
    # Even random features find some of what looks alike; chance alone would be below 0.0001.
    assert outcome.report.number("matches.pck_3px@sample").value > 0.05


def test_a_pose_is_found_from_the_same_features(workshop: Workshop) -> None:
    outcome = workshop.run(named("resnet18", "timm-pose"), data="motorcycle")
    assert outcome.report.run.task == "rpx-pose/relative_camera_pose"
    assert outcome.report.status.failed_samples == 0


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kind_of_backbone_gives_a_map_over_the_image(architecture: str) -> None:
    backbone = Backbone.load(architecture, None, 8, place("cpu", "float32"))
    images = np.random.default_rng(0).integers(0, 256, (2, 100, 150, 3), dtype=np.uint8)
    with torch.inference_mode():
        maps = backbone.features(images, 640)
    height, width = backbone.input_size((100, 150), 640)
    assert maps.shape[0] == 2
    assert maps.shape[2:] == (height // backbone.stride, width // backbone.stride)
    assert maps.dtype == np.float32


def test_a_large_image_is_made_smaller() -> None:
    backbone = Backbone.load("resnet18", None, 8, place("cpu", "float32"))
    assert backbone.input_size((1080, 1920), 640) == (352, 640)
    assert backbone.input_size((480, 640), 640) == (480, 640)
    assert backbone.input_size((10, 10), 640) == (32, 32)


def test_the_level_is_the_deepest_that_is_fine_enough() -> None:
    strides = [
        Backbone.load("resnet18", None, stride, place("cpu", "float32")).stride
        for stride in (1, 4, 9, 64)
    ]
    assert strides == [2, 4, 8, 32]


def test_matches_do_not_depend_on_the_batch(workshop: Workshop) -> None:
    samples = workshop.samples("keypoint_matching", count=3)
    model = build("resnet18")
    for together, sample in zip(model.predict(samples), samples, strict=True):
        (alone,) = model.predict([sample])
        np.testing.assert_allclose(together.points0, alone.points0)
        np.testing.assert_allclose(together.points1, alone.points1, atol=0.05)


def test_random_weights_come_from_the_seed(workshop: Workshop) -> None:
    samples = workshop.samples("keypoint_matching", count=1)
    first, again = (build("resnet18").predict(samples)[0] for _ in range(2))
    np.testing.assert_array_equal(first.scores, again.scores)


def test_weights_of_a_file_are_loaded_and_count_by_content(
    workshop: Workshop, tmp_path: Path
) -> None:
    torch.manual_seed(5)
    whole = timm.create_model("resnet18", pretrained=False)
    torch.save(whole.state_dict(), tmp_path / "mine.pth")
    model = named("resnet18", pretrained=True, weights=str(tmp_path / "mine.pth"))
    identity = workshop.plan(model, data="motorcycle").record.inputs["model"]
    assert identity["files"].keys() == {"weights"}
    built = build("resnet18", pretrained=True, weights=tmp_path / "mine.pth")
    theirs = whole.layer1[0].conv1.weight
    assert torch.equal(built.module.layer1[0].conv1.weight, theirs)
    assert built.describe()["checkpoint"] == "mine.pth"


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    torch.save(timm.create_model("resnet18").state_dict(), tmp_path / "other.pth")
    with pytest.raises(ModelError, match="cannot load the weights of convnext_atto"):
        build("convnext_atto", pretrained=True, weights=tmp_path / "other.pth")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (named("resnet1234"), "has no architecture 'resnet1234'"),
        (named("resnet18", revision="main"), "only weights of the hub have one"),
    ],
)
def test_what_makes_no_backbone_is_explained(
    workshop: Workshop, model: dict[str, Any], says: str
) -> None:
    with pytest.raises((ConfigError, ModelError), match=says):
        workshop.run(model, data="motorcycle")


def test_pretrained_weights_need_the_hub_or_its_cache(workshop: Workshop) -> None:
    with pytest.raises(DownloadError, match="the commit of timm/resnet18"):
        workshop.run("timm:resnet18", data="motorcycle")
