"""What the plugin offers: it passes `rpx check`, and says what it needs."""

import inspect

import pytest

from rpx_core.isolation import load_target
from rpx_core.testing import conformance
from rpx_seg import plugin, published
from tests.plugin_checks import Offered, check_published, name_of

OFFERED = Offered(plugin)
OPTIONED = [
    spec for specs in OFFERED.specs.values() for spec in specs if getattr(spec, "options", None)
]
CHECKS = conformance("rpx-seg", allow_missing_extras=True)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conformance(check):
    check()


@pytest.mark.parametrize("spec", OPTIONED, ids=name_of)
def test_options_have_defaults(spec):
    fields = load_target(spec.options, wanted_by=spec.name).model_fields
    needed = {name for name, field in fields.items() if field.is_required()}
    argument = getattr(spec, "argument", None)
    assert needed == ({"root"} if spec in OFFERED.specs["dataset"] else {argument} - {None})


@pytest.mark.parametrize("task", OFFERED.tasks, ids=name_of)
def test_tasks_have_both_rules_of_stability(task):
    assert set(task.stability) == {"rpx-1", "rpx-2"}


@pytest.mark.parametrize("spec", OFFERED.specs["metric"], ids=name_of)
def test_metrics_say_what_they_are(spec):
    metric = OFFERED.build(spec)
    assert metric.version == "1"
    assert metric.unit in {"sample", "pair"}
    assert len(inspect.getdoc(type(metric)) or "") > 200
    for name, output in metric.outputs.items():
        assert name.isidentifier()
        assert name == name.lower()
        assert output.summary
        assert output.headline in output.aggregates


def test_models_that_need_an_extra_say_which():
    extras = {spec.name: spec.extra for spec in OFFERED.specs["model"]}
    assert extras == {
        "hf": "hf",
        "threshold": None,
        "threshold-semantic": None,
        "slic": "superpixels",
        "felzenszwalb": "superpixels",
        "grabcut": "grabcut",
    }


def test_published_names_are_where_core_looks_for_them():
    check_published(published, "rpx-seg")
