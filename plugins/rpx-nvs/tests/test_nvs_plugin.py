"""What the plugin offers: light to import, every name leads somewhere, protocols load."""

import inspect
import pickle
import subprocess
import sys

import pytest
from pydantic import BaseModel

from rpx_core.config import RunConfig
from rpx_core.contracts import Task
from rpx_core.host import load_target
from rpx_core.offers import Offer
from rpx_core.protocols import load_protocol
from rpx_nvs import plugin, published
from rpx_nvs.metrics.psnr import Psnr
from rpx_nvs.task import NovelViewSynthesis, NovelViewSynthesisOptions

HOOKS = ("tasks", "metrics", "adapters", "models", "protocols")
SPECS = {kind: list(getattr(plugin, f"rpx_{kind}")()) for kind in HOOKS}
(TASK,) = SPECS["tasks"]
NAMES = {kind: {spec.name for spec in specs} for kind, specs in SPECS.items()}
TARGETS = [spec for kind, specs in SPECS.items() if kind != "protocols" for spec in specs]
PROTOCOLS = {
    spec.name: load_protocol(Offer(spec, "rpx-nvs", "0.1.0", True)) for spec in SPECS["protocols"]
}


def test_entry_module_imports_nothing_heavy():
    code = (
        "import sys, rpx_nvs.plugin as p; list(p.rpx_tasks()); list(p.rpx_models());"
        "print(sorted({'numpy', 'pydantic', 'PIL', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("spec", TARGETS, ids=lambda spec: spec.name)
def test_every_target_and_its_options_can_be_imported(spec):
    assert callable(load_target(spec.target, wanted_by=spec.name))
    options = getattr(spec, "options", None)
    if options is not None:
        kind = load_target(options, wanted_by=spec.name)
        assert issubclass(kind, BaseModel)
        assert kind.model_config["frozen"]
        assert kind.model_config["extra"] == "forbid"


def test_task_runs_what_the_plugin_offers():
    assert {*TASK.metrics.values(), *TASK.stability.values()} <= NAMES["metrics"]
    assert TASK.baseline in NAMES["models"]
    assert TASK.adapter in NAMES["adapters"]
    label, output = TASK.primary.split(".")
    assert TASK.metrics[label] == "nvs-psnr"
    assert output in Psnr.outputs
    for spec in SPECS["metrics"]:
        if spec.name in TASK.stability.values():
            assert "ts" in load_target(spec.target, wanted_by=spec.name).outputs


def test_models_need_no_extra():
    assert all((spec.extra, spec.modules) == (None, ()) for spec in SPECS["models"])


def test_outputs_of_different_metrics_have_different_names():
    names = [
        name
        for spec in SPECS["metrics"]
        for name in load_target(spec.target, wanted_by=spec.name).outputs
    ]
    assert len(names) == len(set(names))


def test_task_implements_the_contract():
    assert issubclass(NovelViewSynthesis, Task)
    assert not inspect.isabstract(NovelViewSynthesis)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rpx-nvs-rgb-1", {"gap": 1, "sources": 1, "source_depth": False}),
        ("rpx-nvs-rgbd-1", {"gap": 1, "sources": 1, "source_depth": True}),
    ],
)
def test_a_published_protocol_never_changes(name, options):
    protocol = PROTOCOLS[name]
    config = RunConfig.model_validate({**protocol.layer, "task": protocol.task})
    assert protocol.layer["options"] == options
    NovelViewSynthesis(NovelViewSynthesisOptions(**config.options))
    assert {metric.name for metric in config.metrics.values()} == {
        *("nvs-psnr", "nvs-ssim", "nvs-ms-ssim", "nvs-stability")
    }
    assert protocol.departures(config) == ()


def test_published_names_are_complete():
    assert set(published.__all__) == {
        *("NovelViewSynthesisGroundTruth", "NovelViewSynthesisPrediction"),
        *("NovelViewSynthesisQuery", "make_numpy_nvs_model"),
    }
    assert all(hasattr(published, name) for name in published.__all__)


def test_specs_travel_to_workers():
    assert pickle.loads(pickle.dumps(TASK)) == TASK
