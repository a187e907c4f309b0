"""What the plugin offers: it passes `rpx check`, and keeps what it has published."""

import pytest

import rpx_core
from rpx_core.config import RunConfig
from rpx_core.testing import conformance
from rpx_depth import plugin, published
from rpx_depth.alignment import METHODS
from tests.plugin_checks import Offered, check_published, name_of

OFFERED = Offered(plugin)
PROTOCOLS = OFFERED.protocols


@pytest.mark.parametrize("check", conformance("rpx-depth", allow_missing_extras=True), ids=str)
def test_conformance(check):
    check()


@pytest.mark.parametrize("task", OFFERED.tasks, ids=name_of)
def test_tasks_know_every_alignment_and_their_baselines_need_no_right_view(task):
    assert task.alignments == METHODS
    assert OFFERED.find("model", task.baseline).needs == ()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rpx-depth-1", {"min_depth": 0.3, "max_depth": 5.0}),
        (
            "nyu-eigen-1",
            {
                "crop": "nyu-eigen",
                "min_depth": 0.001,
                "max_depth": 10.0,
                "clamp": True,
                "nonpositive": "floor",
            },
        ),
        (
            "kitti-eigen-1",
            {
                "crop": "garg",
                "min_depth": 0.001,
                "max_depth": 80.0,
                "clamp": True,
                "nonpositive": "floor",
            },
        ),
    ],
)
def test_a_published_protocol_never_changes(name, options):
    assert PROTOCOLS[name].layer["options"] == options
    assert PROTOCOLS[name].layer["align"] == "none"


def test_a_changed_protocol_says_so():
    protocol = PROTOCOLS["nyu-eigen-1"]
    changed = {**protocol.layer, "options": {**protocol.layer["options"], "max_depth": 8.0}}
    assert protocol.departures(RunConfig.model_validate(changed)) == ("options",)


def test_published_names_are_where_core_looks_for_them():
    check_published(published, "rpx-depth")


def test_published_stability_keeps_its_sentinels():
    result = rpx_core.compute_temporal_stability_depth([], [])
    assert (result.ts_score, result.num_pairs, list(result.per_pair)) == (1.0, 0, [])
