"""Bare names are convenient while unique; full names always work; errors say what to write."""

from __future__ import annotations

import pytest

from rpx_core.errors import ConfigError, PluginError
from rpx_core.names import Request, choose
from rpx_core.offers import Offer, Plugin, Status
from rpx_core.specs import MetricSpec


def offers(*names: str, tasks: tuple[str, ...] = ("depth",)):
    found = {}
    for full_name in names:
        distribution, name = full_name.split("/")
        spec = MetricSpec(name=name, summary="A toy.", target="toy:M", tasks=tasks)
        found[full_name] = Offer(spec, distribution, "1.0")
    return found


def plugin(distribution: str, problem: str | None = None) -> Plugin:
    status = Status.OK if problem is None else Status.BROKEN
    return Plugin("toy", distribution, "1.0", status, problem)


def find(name: str, known, *plugins: Plugin, task: str | None = None, prefer: str | None = None):
    return choose(Request("metric", name, task, prefer), known, plugins).full_name


def test_a_bare_name_stands_for_the_only_offer():
    assert find("rmse", offers("a/rmse", "a/mae")) == "a/rmse"


def test_an_ambiguous_name_lists_the_full_ones():
    with pytest.raises(ConfigError, match="ambiguous: it may be a/rmse, b/rmse"):
        find("rmse", offers("b/rmse", "a/rmse"))


def test_names_are_compared_exactly():
    with pytest.raises(ConfigError, match="did you mean rmse"):
        find("RMSE", offers("a/rmse", "a/rms"))


def test_distributions_are_compared_like_pip_does():
    assert find("Rpx_Depth/rmse", offers("rpx-depth/rmse")) == "rpx-depth/rmse"


def test_the_preferred_distribution_is_looked_in_first():
    assert find("rmse", offers("a/rmse", "b/rmse"), prefer="B") == "b/rmse"


def test_the_others_are_looked_in_when_the_preferred_has_no_such_name():
    assert find("rmse", offers("a/rmse"), plugin("b"), prefer="b") == "a/rmse"


def test_a_broken_preferred_plugin_is_not_replaced_by_another():
    with pytest.raises(PluginError, match="which is broken: no torch"):
        find("rmse", offers("a/rmse"), plugin("b", "no torch"), prefer="b")


def test_the_task_decides_between_equal_names():
    known = offers("a/iou", tasks=("detection",)) | offers("b/iou", tasks=("segmentation",))
    assert find("iou", known, task="segmentation") == "b/iou"


def test_a_name_of_another_task_is_refused_with_its_tasks():
    known = offers("a/iou", tasks=("detection", "tracking"))
    with pytest.raises(ConfigError, match="not for task depth, only for detection, tracking"):
        find("iou", known, task="depth")


@pytest.mark.parametrize(
    ("task", "listed"),
    [("depth", "x/depth"), ("x/depth", "depth"), ("x/depth", "x/depth"), ("depth", "depth")],
)
def test_a_task_may_be_listed_by_bare_or_full_name(task, listed):
    assert find("rmse", offers("a/rmse", tasks=(listed,)), task=task) == "a/rmse"


def test_a_task_of_another_distribution_is_another_task():
    with pytest.raises(ConfigError, match="not for task x/depth"):
        find("rmse", offers("a/rmse", tasks=("y/depth",)), task="x/depth")


def test_a_spec_without_tasks_serves_every_task():
    assert find("rmse", offers("a/rmse", tasks=()), task="depth") == "a/rmse"


def test_an_unknown_name_suggests_close_ones():
    with pytest.raises(ConfigError, match="no metric is named 'absrell'; did you mean absrel"):
        find("absrell", offers("a/absrel", "a/rmse"))


def test_an_unknown_name_accuses_broken_plugins_only():
    with pytest.raises(ConfigError) as caught:
        find("rmse", {}, plugin("good"), plugin("bad", "no torch"))
    assert caught.value.message == (
        "no metric is named 'rmse'; plugin 'toy' of bad 1.0 is broken and may own it: no torch"
    )


def test_a_full_name_of_a_broken_distribution_is_a_plugin_error():
    with pytest.raises(PluginError, match="'bad/rmse' needs plugin 'toy' of bad"):
        find("bad/rmse", {}, plugin("bad", "no torch"))


def test_what_a_working_entry_point_offers_stays_usable_beside_a_broken_one():
    known = offers("half/rmse")
    assert find("half/rmse", known, plugin("half"), plugin("half", "no torch")) == "half/rmse"


def test_a_full_name_of_an_absent_distribution_of_ours_says_how_to_install_it():
    with pytest.raises(ConfigError, match="'rpx-depth' is installed") as e:
        find("rpx-depth/rmse", {}, plugin("rpx-seg"))
    assert e.value.hint == "pip install rpx-depth"


def test_a_name_from_anywhere_is_never_installed():
    # Somebody may have taken the misspelt name.
    with pytest.raises(ConfigError, match="'rpx-dept' is installed; did you mean rpx-depth") as e:
        find("rpx-dept/rmse", {}, plugin("rpx-depth"))
    assert "pip" not in e.value.hint


def test_a_full_name_that_its_distribution_lacks_suggests_its_own():
    with pytest.raises(ConfigError, match="a offers no metric 'rmsee'; did you mean a/rmse"):
        find("a/rmsee", offers("a/rmse", "b/rmsee"), plugin("a"), plugin("b"))


def test_a_task_of_ours_that_is_not_installed_is_named_with_its_package():
    request = Request("task", "object_tracking")
    with pytest.raises(ConfigError, match="comes with rpx-detection") as caught:
        choose(request, offers("a/object_segmentation"), [plugin("a")])
    assert caught.value.hint == "pip install rpx-detection"


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("model", "net/weights", "a checkpoint is hf:net/weights"),
        ("model", "net", "a checkpoint is hf:net"),
        ("model", "mine.py", "mine.py:FUNCTION"),
        ("dataset", "net", "name a manifest"),
        ("model", "nowhere/weights", "`rpx list plugins` shows"),
    ],
)
def test_a_path_for_a_name_is_told_what_to_write_and_never_what_to_install(
    kind, name, says, tmp_path, monkeypatch
):
    (tmp_path / "net" / "weights").mkdir(parents=True)
    (tmp_path / "mine.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        choose(Request(kind, name), {}, [plugin("a")])
    assert says in caught.value.hint
    assert "pip" not in caught.value.hint
