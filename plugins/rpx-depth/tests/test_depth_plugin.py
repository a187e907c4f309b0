"""What the plugin offers: light to import, every name leads somewhere, protocols load."""

import inspect
import pickle
import subprocess
import sys
from dataclasses import replace

import pytest
from pydantic import BaseModel

import rpx_core
from rpx_core.config import RunConfig
from rpx_core.contracts import Task
from rpx_core.host import load_target
from rpx_core.offers import Offer
from rpx_core.protocols import load_protocol
from rpx_depth import plugin, published
from rpx_depth.alignment import METHODS
from rpx_depth.monocular_depth import MonocularDepth, MonocularDepthOptions
from rpx_depth.sparse_depth import SparseDepth

HOOKS = ("tasks", "metrics", "adapters", "models", "datasets", "protocols")
SPECS = {kind: list(getattr(plugin, f"rpx_{kind}")()) for kind in HOOKS}
TASKS = {spec.name: spec for spec in SPECS["tasks"]}
NAMES = {kind: {spec.name for spec in specs} for kind, specs in SPECS.items()}
TARGETS = [spec for kind, specs in SPECS.items() if kind != "protocols" for spec in specs]
PROTOCOLS = {
    spec.name: load_protocol(Offer(spec, "rpx-depth", "0.1.0", True)) for spec in SPECS["protocols"]
}


def test_entry_module_imports_nothing_heavy():
    code = (
        "import sys, rpx_depth.plugin as p; list(p.rpx_tasks()); list(p.rpx_models());"
        "print(sorted({'numpy', 'pydantic', 'PIL', 'cv2', 'skimage', 'torch'} & set(sys.modules)))"
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


def find(kind: str, name: str):
    (spec,) = (spec for spec in SPECS[kind] if spec.name == name)
    return spec


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_task_runs_what_the_plugin_offers_for_it(task):
    uses = {("metrics", name) for name in (*task.metrics.values(), *task.stability.values())}
    for kind, name in {*uses, ("models", task.baseline), ("adapters", task.adapter)}:
        assert task.name in find(kind, name).tasks
    assert task.alignments == METHODS
    label, output = task.primary.split(".")
    assert output in load_target(find("metrics", task.metrics[label]).target, wanted_by="").outputs
    for name in task.stability.values():
        assert "ts" in load_target(find("metrics", name).target, wanted_by=name).outputs


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_baseline_needs_no_extra(task):
    baseline = find("models", task.baseline)
    assert (baseline.extra, baseline.modules, baseline.needs) == (None, (), ())


@pytest.mark.parametrize("kind", [MonocularDepth, SparseDepth])
def test_task_implements_the_contract(kind):
    assert issubclass(kind, Task)
    assert not inspect.isabstract(kind)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_protocols_make_a_valid_configuration(name):
    protocol = PROTOCOLS[name]
    config = RunConfig.model_validate({**protocol.layer, "task": protocol.task})
    MonocularDepth(MonocularDepthOptions(**config.options))
    assert {metric.name for metric in config.metrics.values()} <= NAMES["metrics"]
    assert config.align.method == "none"
    assert protocol.departures(config) == ()


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


def test_a_changed_protocol_says_so():
    protocol = PROTOCOLS["nyu-eigen-1"]
    changed = {**protocol.layer, "options": {**protocol.layer["options"], "max_depth": 8.0}}
    assert protocol.departures(RunConfig.model_validate(changed)) == ("options",)


def test_published_names_are_where_core_looks_for_them():
    offered = {name for name, (owner, _) in rpx_core.PUBLISHED.items() if owner == "rpx-depth"}
    assert offered == set(published.__all__)
    for name in offered:
        assert getattr(rpx_core, name) is getattr(published, name)


def test_published_stability_keeps_its_sentinels():
    result = rpx_core.compute_temporal_stability_depth([], [])
    assert (result.ts_score, result.num_pairs, list(result.per_pair)) == (1.0, 0, [])


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_specs_travel_to_workers(task):
    assert pickle.loads(pickle.dumps(task)) == task
    assert replace(task, name="other").metrics == task.metrics
