"""What the plugin offers: light to import, and every name leads somewhere."""

import inspect
import pickle
import subprocess
import sys

import pytest
from pydantic import BaseModel

from rpx_core.contracts import Task
from rpx_core.host import load_target
from rpx_seg import plugin, published

HOOKS = ("tasks", "metrics", "adapters", "models", "datasets")
SPECS = {kind: list(getattr(plugin, f"rpx_{kind}")()) for kind in HOOKS}
NAMES = {kind: {spec.name for spec in specs} for kind, specs in SPECS.items()}
ALL = [spec for specs in SPECS.values() for spec in specs]


def test_importing_the_plugin_imports_nothing_heavy():
    code = (
        "import sys, rpx_seg.plugin as p\n"
        f"[list(getattr(p, 'rpx_' + kind)()) for kind in {HOOKS!r}]\n"
        "print(sorted({'numpy', 'pydantic', 'PIL', 'cv2', 'scipy', 'skimage'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
def test_targets_exist_and_options_have_defaults(spec):
    assert callable(load_target(spec.target, wanted_by=spec.name))
    if spec.options is None:
        return
    options = load_target(spec.options, wanted_by=spec.name)
    assert issubclass(options, BaseModel)
    needed = {name for name, field in options.model_fields.items() if field.is_required()}
    assert needed == ({"root"} if spec in SPECS["datasets"] else set())
    assert options.__doc__


@pytest.mark.parametrize("spec", SPECS["tasks"], ids=lambda spec: spec.name)
def test_tasks_name_their_own_parts(spec):
    assert set(spec.metrics.values()) | set(spec.stability.values()) <= NAMES["metrics"]
    assert spec.baseline in NAMES["models"]
    assert spec.adapter in NAMES["adapters"]
    label, _, output = spec.primary.partition(".")
    metrics = {metric.name: metric for metric in SPECS["metrics"]}
    built = build(metrics[spec.metrics[label]])
    assert output in built.outputs
    kind = load_target(spec.target, wanted_by=spec.name)
    assert issubclass(kind, Task)
    assert pickle.loads(pickle.dumps(spec)) == spec


def build(spec):
    kind = load_target(spec.target, wanted_by=spec.name)
    if spec.options is None:
        return kind()
    return kind(load_target(spec.options, wanted_by=spec.name)())


@pytest.mark.parametrize("spec", SPECS["metrics"], ids=lambda spec: spec.name)
def test_metrics_say_what_they_are(spec):
    metric = build(spec)
    assert metric.version == "1"
    assert metric.unit in {"sample", "pair"}
    assert len(inspect.getdoc(type(metric)) or "") > 200
    for name, output in metric.outputs.items():
        assert name.isidentifier()
        assert name == name.lower()
        assert output.summary
        assert output.headline in output.aggregates


@pytest.mark.parametrize("task", SPECS["tasks"], ids=lambda spec: spec.name)
@pytest.mark.parametrize("rules", ["rpx-1", "rpx-2"])
def test_stability_metrics_measure_pairs_and_give_ts(task, rules):
    (spec,) = [spec for spec in SPECS["metrics"] if spec.name == task.stability[rules]]
    metric = build(spec)
    assert metric.unit == "pair"
    assert metric.outputs["ts"].better == "higher"


def test_models_that_need_an_extra_say_which():
    extras = {spec.name: spec.extra for spec in SPECS["models"]}
    assert extras == {
        "threshold": None,
        "threshold-semantic": None,
        "slic": "superpixels",
        "felzenszwalb": "superpixels",
        "grabcut": "grabcut",
    }


def test_published_names_are_there_and_documented():
    for name in published.__all__:
        assert inspect.getdoc(getattr(published, name))
