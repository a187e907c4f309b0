"""What the plugin offers: it passes `rpx check`, and keeps what it has published."""

import pytest

from rpx_core.config import RunConfig
from rpx_core.testing import conformance
from rpx_nvs import plugin, published
from tests.plugin_checks import Offered, check_published

OFFERED = Offered(plugin)


CHECKS = conformance("rpx-nvs", allow_missing_extras=True)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conformance(check):
    check()


def test_models_need_no_extra():
    assert all((spec.extra, spec.modules) == (None, ()) for spec in OFFERED.specs["model"])


def test_outputs_of_different_metrics_have_different_names():
    # Any file stands for the network: it is read when first needed.
    needs = {"nvs-feature-distance": {"network": __file__}}
    built = [OFFERED.build(spec, **needs.get(spec.name, {})) for spec in OFFERED.specs["metric"]]
    names = [name for metric in built for name in metric.outputs]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rpx-nvs-rgb-1", {"gap": 1, "sources": 1, "source_depth": False}),
        ("rpx-nvs-rgbd-1", {"gap": 1, "sources": 1, "source_depth": True}),
    ],
)
def test_a_published_protocol_never_changes(name, options):
    protocol = OFFERED.protocols[name]
    config = RunConfig.model_validate(protocol.layer)
    assert protocol.layer["options"] == options
    assert {metric.name for metric in config.metrics.values()} == {
        *("nvs-psnr", "nvs-ssim", "nvs-ms-ssim", "nvs-stability")
    }


def test_published_names_are_where_core_looks_for_them():
    check_published(published, "rpx-nvs")
