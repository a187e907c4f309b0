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
from rpx_pose import plugin, published

HOOKS = ("tasks", "metrics", "adapters", "models", "datasets", "protocols")
SPECS = {kind: list(getattr(plugin, f"rpx_{kind}")()) for kind in HOOKS}
TASKS = {spec.name: spec for spec in SPECS["tasks"]}
NAMES = {kind: {spec.name for spec in specs} for kind, specs in SPECS.items()}
TARGETS = [spec for kind, specs in SPECS.items() if kind != "protocols" for spec in specs]
PROTOCOLS = {
    spec.name: load_protocol(Offer(spec, "rpx-pose", "0.1.0", True)) for spec in SPECS["protocols"]
}


def find(kind: str, name: str):
    (spec,) = (spec for spec in SPECS[kind] if spec.name == name)
    return spec


def build(spec, **options):
    """What a spec names, built with its options."""
    target = load_target(spec.target, wanted_by=spec.name)
    if spec.options is None:
        return target()
    return target(load_target(spec.options, wanted_by=spec.name)(**options))


def test_entry_module_imports_nothing_heavy():
    code = (
        "import sys, rpx_pose.plugin as p; list(p.rpx_tasks()); list(p.rpx_models());"
        "print(sorted({'numpy', 'pydantic', 'PIL', 'cv2', 'poselib'} & set(sys.modules)))"
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


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_task_runs_what_the_plugin_offers_for_it(task):
    uses = {("metrics", name) for name in task.metrics.values()} | {("models", task.baseline)}
    if task.adapter:
        uses.add(("adapters", task.adapter))
    for kind, name in uses:
        assert task.name in find(kind, name).tasks
    label, output = task.primary.split(".")
    assert output in build(find("metrics", task.metrics[label])).outputs


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_baseline_needs_no_extra(task):
    baseline = find("models", task.baseline)
    assert (baseline.extra, baseline.modules, baseline.needs) == (None, (), ())


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_task_implements_the_contract(task):
    kind = load_target(task.target, wanted_by=task.name)
    assert issubclass(kind, Task)
    assert not inspect.isabstract(kind)
    assert pickle.loads(pickle.dumps(task)) == task


@pytest.mark.parametrize("name", PROTOCOLS)
def test_protocols_make_a_valid_configuration(name):
    protocol = PROTOCOLS[name]
    config = RunConfig.model_validate({**protocol.layer, "task": protocol.task})
    build(TASKS[protocol.task], **config.options)
    assert {metric.name for metric in config.metrics.values()} <= NAMES["metrics"]
    assert protocol.departures(config) == ()


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
        "make_numpy_keypoint_model",
        "make_numpy_pose_model",
        "make_numpy_trajectory_model",
    }
    assert all(hasattr(published, name) for name in published.__all__)
