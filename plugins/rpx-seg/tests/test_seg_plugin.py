"""What the plugin offers: light to import, and every name leads somewhere."""

import inspect

import pytest

from rpx_core.host import load_target
from rpx_seg import plugin, published
from tests.plugin_checks import Offered, check_published, check_target, name_of

OFFERED = Offered(plugin)


def test_importing_the_plugin_imports_nothing_heavy():
    assert OFFERED.heavy_imports() == set()


@pytest.mark.parametrize("spec", OFFERED.targets, ids=name_of)
def test_targets_exist_and_options_have_defaults(spec):
    check_target(spec)
    if spec.options is not None:
        fields = load_target(spec.options, wanted_by=spec.name).model_fields
        needed = {name for name, field in fields.items() if field.is_required()}
        argument = getattr(spec, "argument", None)
        assert needed == ({"root"} if spec in OFFERED.specs["dataset"] else {argument} - {None})


@pytest.mark.parametrize("task", OFFERED.tasks, ids=name_of)
def test_tasks_run_on_what_the_plugin_offers(task):
    OFFERED.check_task(task)
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
