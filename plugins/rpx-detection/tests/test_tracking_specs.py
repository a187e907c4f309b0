"""What tracking offers beside what holds for the whole plugin."""

import pytest

from rpx_core.testing import heavy_imports
from rpx_detection import plugin
from rpx_detection.tracking.metrics.options import TrackingOptions
from tests.plugin_checks import Offered

OFFERED = Offered(plugin)


def test_the_task_imports_no_solver_and_no_imaging():
    code = "import rpx_detection.tracking.task, rpx_detection.tracking.metrics.hota"
    assert heavy_imports(code) <= {"numpy", "pydantic"}


@pytest.mark.parametrize("name", ["rpx-tracking-1", "mot17-1"])
def test_protocols_of_tracking_run_its_three_families(name):
    assert set(OFFERED.protocols[name].layer["metrics"]) == {"hota", "clear", "identity"}


def test_metric_options_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match="iou"):
        TrackingOptions.model_validate({"iou": 0.5})
