"""What the plugin offers: it passes `rpx check`, and keeps what it has published."""

import pytest

from rpx_core.offers import Offer
from rpx_core.protocols import load_protocol
from rpx_core.testing import conformance
from rpx_pose import plugin, published

HOOKS = ("tasks", "metrics", "adapters", "models", "datasets", "protocols")
SPECS = {kind: list(getattr(plugin, f"rpx_{kind}")()) for kind in HOOKS}
TASKS = {spec.name: spec for spec in SPECS["tasks"]}
PROTOCOLS = {
    spec.name: load_protocol(Offer(spec, "rpx-pose", "0.1.0", True)) for spec in SPECS["protocols"]
}
CHECKS = conformance("rpx-pose", allow_missing_extras=True)


def find(kind: str, name: str):
    (spec,) = (spec for spec in SPECS[kind] if spec.name == name)
    return spec


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conformance(check):
    check()


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_baseline_needs_no_extra(task):
    baseline = find("models", task.baseline)
    assert (baseline.extra, baseline.modules, baseline.needs) == (None, (), ())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rpx-pose-1", {"gap": 5, "per_bin": 50, "seed": 5062026}),
        ("homography-480-1", {"shorter_side_px": 480}),
    ],
)
def test_a_published_protocol_never_changes(name, options):
    assert PROTOCOLS[name].layer["options"] == options


def test_published_names_are_all_there():
    assert set(published.__all__) == {
        "KeypointCorrespondenceGroundTruth",
        "KeypointCorrespondencePrediction",
        "RelativePoseGroundTruth",
        "RelativePosePrediction",
        "Trajectory",
        "TrajectoryPrediction",
        "make_numpy_keypoint_model",
        "make_numpy_pose_model",
        "make_numpy_trajectory_model",
    }
    assert all(hasattr(published, name) for name in published.__all__)
