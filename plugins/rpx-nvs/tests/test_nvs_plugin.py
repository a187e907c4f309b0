"""What the plugin offers: light to import, every name leads somewhere, protocols load."""

import pytest

from rpx_nvs import plugin, published
from tests.plugin_checks import Offered, check_published, check_target, name_of

OFFERED = Offered(plugin)


def test_entry_module_imports_nothing_heavy():
    assert OFFERED.heavy_imports() == set()


@pytest.mark.parametrize("spec", OFFERED.targets, ids=name_of)
def test_every_target_and_its_options_can_be_imported(spec):
    check_target(spec)


def test_the_task_runs_on_what_the_plugin_offers():
    (task,) = OFFERED.tasks
    OFFERED.check_task(task)


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
    config = OFFERED.check_protocol(protocol)
    assert protocol.layer["options"] == options
    assert {metric.name for metric in config.metrics.values()} == {
        *("nvs-psnr", "nvs-ssim", "nvs-ms-ssim", "nvs-stability")
    }


def test_published_names_are_where_core_looks_for_them():
    check_published(published, "rpx-nvs")
