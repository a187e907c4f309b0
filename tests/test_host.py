"""The host asks plugins no more than it must, and tells the truth about them."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from rpx_core import hookspecs
from rpx_core.errors import ConfigError
from rpx_core.host import Status
from rpx_core.offers import HOOKS
from tests.toys.site import GOOD, PREAMBLE, ToySite, toy_site


@pytest.fixture
def site(tmp_path):
    with toy_site(tmp_path) as site:
        yield site


def test_a_generator_may_offer_specs(site):
    site.plugin("rpx-lazy", "@hookimpl\ndef rpx_models():\n    yield model('a')\n")
    assert list(site.host().offers("model")) == ["rpx-lazy/a"]


def test_a_hook_of_a_future_core_may_be_optional(site):
    source = "@hookimpl(optionalhook=True)\ndef rpx_executors():\n    return []\n\n" + GOOD
    site.plugin("rpx-future", source)
    (plugin,) = site.host().plugins
    assert plugin.status is Status.OK
    assert plugin.hooks == ("rpx_models",)


def test_discovery_imports_no_plugin(site):
    site.plugin("rpx-good", GOOD)
    host = site.host()
    assert "rpx_good" not in sys.modules
    host.offers("reporter")
    assert "rpx_good" in sys.modules


def test_only_the_hooks_asked_for_are_called_and_each_once(site):
    source = """
        calls = []

        @hookimpl
        def rpx_models():
            calls.append("models")
            return []

        @hookimpl
        def rpx_metrics():
            calls.append("metrics")
            return []
    """
    site.plugin("rpx-count", source)
    host = site.host()
    host.offers("model")
    host.offers("model")
    assert sys.modules["rpx_count"].calls == ["models"]


def test_offers_are_in_order_of_their_full_names(site):
    names = "@hookimpl\ndef rpx_models():\n    return [model('b'), model('a')]\n"
    site.plugin("rpx-two", names)
    site.plugin("rpx-one", names)
    expected = ["rpx-one/a", "rpx-one/b", "rpx-two/a", "rpx-two/b"]
    assert list(site.host().offers("model")) == expected


def test_an_offer_carries_its_distribution_and_version(site):
    site.plugin("Rpx.Good", GOOD, version="2.1")
    offer = site.host().find("model", "RPX_good/good")
    assert (offer.full_name, offer.version) == ("rpx-good/good", "2.1")


def test_equal_names_of_two_distributions_are_namespaced(site):
    """RW-107: neither `rmse` hides the other, and the bare name is refused."""
    rmse = "@hookimpl\ndef rpx_metrics():\n    return [metric('rmse')]\n"
    site.plugin("plugin-a", rmse)
    site.plugin("plugin-b", rmse)
    host = site.host()

    assert list(host.offers("metric")) == ["plugin-a/rmse", "plugin-b/rmse"]
    assert host.find("metric", "plugin-b/rmse").distribution == "plugin-b"
    with pytest.raises(ConfigError, match="plugin-a/rmse, plugin-b/rmse"):
        host.find("metric", "rmse")
    assert site.warnings == []


def test_one_name_in_two_entry_points_of_a_distribution_breaks_both(site):
    hook = "@hookimpl\ndef rpx_models():\n    return [model('{}')]\n"
    site.module("first", PREAMBLE + hook.format("same"))
    site.module("second", PREAMBLE + hook.format("same"))
    site.module("third", PREAMBLE + hook.format("other"))
    site.distribution("rpx-twice", entry_points={"one": "first", "two": "second", "three": "third"})
    host = site.host()

    assert list(host.offers("model")) == ["rpx-twice/other"]
    assert [plugin.name for plugin in host.plugins if plugin.problem] == ["one", "two"]
    assert all("model 'same' in several entry points: 'one', 'two'" in w for w in site.warnings)
    assert len(site.warnings) == 2


def test_an_entry_point_may_name_an_object(site):
    source = """
        class Hooks:
            @hookimpl
            def rpx_models(self):
                return [model("inner")]

        hooks = Hooks()
    """
    site.plugin("rpx-object", source)
    entry_points = next(site.folder.glob("rpx_object-*")) / "entry_points.txt"
    entry_points.write_text("[rpx]\nobject = rpx_object:hooks\n", encoding="utf-8")
    assert list(site.host().offers("model")) == ["rpx-object/inner"]


OBSERVER = """
    seen = []

    @hookimpl
    def rpx_sample_scored(row):
        seen.append(row)
        {then}
"""


def test_a_notification_reaches_every_plugin_with_the_arguments_it_declares(site):
    site.plugin("rpx-one", OBSERVER.format(then="return"))
    site.plugin("rpx-two", OBSERVER.format(then="return"))
    site.host().notify("rpx_sample_scored", record="record", row="row")
    assert sys.modules["rpx_one"].seen == sys.modules["rpx_two"].seen == ["row"]


def test_a_raising_observer_is_reported_once_and_not_called_again(site):
    site.plugin("rpx-bad", OBSERVER.format(then="raise ValueError('full disk')"))
    site.plugin("rpx-good", OBSERVER.format(then="return"))
    host = site.host()

    host.notify("rpx_sample_scored", record=None, row=1)
    host.notify("rpx_sample_scored", record=None, row=2)

    assert sys.modules["rpx_bad"].seen == [1]
    assert sys.modules["rpx_good"].seen == [1, 2]
    (line,) = site.warnings
    assert "plugin 'bad' of rpx-bad 1.0" in line
    assert "rpx_sample_scored failed: ValueError: full disk" in line
    assert [plugin.status for plugin in host.plugins] == [Status.OK, Status.OK]


def test_a_host_knows_whether_anyone_listens(site):
    site.plugin("rpx-bad", OBSERVER.format(then="raise ValueError"))
    host = site.host()
    assert host.listens("rpx_sample_scored")
    assert not host.listens("rpx_run_started")
    host.notify("rpx_sample_scored", record=None, row=1)
    assert not host.listens("rpx_sample_scored")


def test_a_misspelt_notification_is_our_own_error(site):
    with pytest.raises(ValueError, match="rpx_run_starts is not a notification hook"):
        site.host().notify("rpx_run_starts", record=None)


def test_the_hook_table_matches_the_hook_contract():
    specified = {
        name
        for name, member in vars(hookspecs).items()
        if inspect.isfunction(member) and name.startswith("rpx_")
    }
    assert set(HOOKS) == specified


def test_a_host_without_plugins_offers_nothing(tmp_path: Path):
    site = ToySite(tmp_path)
    assert site.host().plugins == ()
    assert site.host().offers("task") == {}
