"""What tracking offers: every name leads somewhere, protocols load, nothing heavy is imported."""

import subprocess
import sys

import pytest
from pydantic import BaseModel

from rpx_core.config import RunConfig
from rpx_core.contracts import Task
from rpx_core.host import load_target
from rpx_core.offers import Offer
from rpx_core.parts import resolve_part
from rpx_core.protocols import load_protocol
from rpx_detection.tracking import specs
from rpx_detection.tracking.metrics.options import TrackingOptions

METRICS = {spec.name: spec for spec in specs.TRACKING_METRICS}
TARGETS = [
    *specs.TRACKING_TASKS,
    *specs.TRACKING_METRICS,
    *specs.TRACKING_MODELS,
    *specs.TRACKING_ADAPTERS,
    *specs.TRACKING_DATASETS,
]
(TASK,) = specs.TRACKING_TASKS


def test_specs_import_nothing_heavy():
    code = (
        "import sys, rpx_detection.tracking.specs;"
        "print(sorted({'numpy', 'pydantic', 'PIL', 'scipy', 'cv2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_task_imports_no_solver_and_no_imaging():
    code = (
        "import sys, rpx_detection.tracking.task, rpx_detection.tracking.metrics.hota;"
        "print(sorted({'PIL', 'scipy', 'cv2'} & set(sys.modules)))"
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


def test_the_task_names_parts_that_there_are():
    assert set(TASK.metrics.values()) <= set(METRICS)
    assert TASK.baseline in {spec.name for spec in specs.TRACKING_MODELS}
    assert TASK.adapter in {spec.name for spec in specs.TRACKING_ADAPTERS}
    label, output = TASK.primary.split(".")
    assert output in build(METRICS[TASK.metrics[label]], {}).outputs
    assert isinstance(build(TASK, {}), Task)


@pytest.mark.parametrize("spec", specs.TRACKING_PROTOCOLS, ids=lambda spec: spec.name)
def test_protocols_load_with_options_that_the_parts_accept(spec):
    protocol = load_protocol(Offer(spec, "rpx-detection", "0.1.0"))
    config = RunConfig.model_validate({"task": TASK.name, **protocol.layer})
    build(TASK, config.options)
    assert set(config.metrics) == {"hota", "clear", "identity"}
    for use in config.metrics.values():
        build(METRICS[use.name], use.options)


def test_metric_options_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="iou"):
        TrackingOptions.model_validate({"iou": 0.5})


def build(spec, options):
    offer = Offer(spec, "rpx-detection", "0.1.0")
    return resolve_part(offer, options, field_name="options").build()
