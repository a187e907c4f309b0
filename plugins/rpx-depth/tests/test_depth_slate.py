"""The depth models that the benchmark lists by name: their weights, and what is not there."""

from __future__ import annotations

import pytest

import rpx_depth.plugin as entry
from rpx_core.host import load_target
from rpx_core.specs import ModelSpec

SPECS: dict[str, ModelSpec] = {spec.name: spec for spec in entry.rpx_models()}
WEIGHTS = {
    "depth_anything_v2_metric_indoor_small": "Depth-Anything-V2-Metric-Indoor-Small-hf",
    "depth_anything_v2_metric_indoor_base": "Depth-Anything-V2-Metric-Indoor-Base-hf",
    "depth_anything_v2_metric_indoor_large": "Depth-Anything-V2-Metric-Indoor-Large-hf",
    "depth_pro": "DepthPro-hf",
    "zoedepth_nyu": "zoedepth-nyu",
    "unidepth_v2_vitb": "unidepth-v2-vitb14",
    "unidepth_v2_vitl": "unidepth-v2-vitl14",
}
ENTRIES = {
    "metric3d_v2_vit_small": "metric3d_vit_small",
    "metric3d_v2_vit_large": "metric3d_vit_large",
    "metric3d_v2_vit_giant2": "metric3d_vit_giant2",
}
DEFERRED = ("video_depth_anything_large", "prompt_depth_anything_vits", "depth_anything_3")


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_listed_model_brings_its_weights(name: str) -> None:
    options = load_target(str(SPECS[name].options), wanted_by=name)()
    owner, _, repository = options.checkpoint.partition("/")
    assert owner
    assert repository == WEIGHTS[name]


@pytest.mark.parametrize("name", ENTRIES)
def test_a_listed_metric3d_brings_its_network(name: str) -> None:
    assert load_target(str(SPECS[name].options), wanted_by=name)().entry == ENTRIES[name]


@pytest.mark.parametrize("name", [*WEIGHTS, *ENTRIES])
def test_a_listed_model_also_answers_at_points(name: str) -> None:
    points = SPECS[f"{name}-points"]
    assert points.tasks == ("sparse_depth",)
    assert points.options == SPECS[name].options
    assert callable(load_target(points.target, wanted_by=points.name))


@pytest.mark.parametrize("name", DEFERRED)
def test_a_deferred_name_says_why_it_cannot_be_run(name: str) -> None:
    assert len(SPECS[name].unavailable or "") > 20
    assert f"{name}-points" not in SPECS
