"""No plugin breaks the host or another plugin, and none fails in silence."""

from __future__ import annotations

import pytest

from rpx_core.errors import ConfigError, ExitCode, PluginError
from rpx_core.host import Host, Plugin, Status
from tests.toys.hostile import HOSTILE
from tests.toys.site import GOOD, ToySite, toy_site


@pytest.fixture
def site(tmp_path):
    with toy_site(tmp_path) as site:
        yield site


def add_all_hostile(site: ToySite) -> None:
    for name, hostile in HOSTILE.items():
        site.plugin(f"rpx-{name}", hostile.source, metadata=hostile.metadata)


def only_plugin(site: ToySite) -> Plugin:
    (plugin,) = site.host().plugins
    return plugin


def test_a_good_plugin_is_usable_beside_seven_hostile_ones(site):
    add_all_hostile(site)
    site.plugin("rpx-good", GOOD)

    host = site.host()

    assert list(host.offers("model")) == ["rpx-good/good"]
    assert host.find("model", "good").distribution == "rpx-good"
    status = {plugin.distribution: plugin.status for plugin in host.plugins}
    assert status.pop("rpx-good") is Status.OK
    assert set(status.values()) == {Status.BROKEN}
    assert len(status) == 7


@pytest.mark.parametrize("name", HOSTILE)
def test_each_hostile_plugin_costs_one_line_that_names_it_and_the_cause(site, name):
    hostile = HOSTILE[name]
    site.plugin(f"rpx-{name}", hostile.source, metadata=hostile.metadata)

    host = site.host()
    host.offers("model")
    (plugin,) = host.plugins

    assert hostile.says in plugin.problem
    (line,) = site.warnings
    assert line.startswith(f"warning: plugin '{name.split('-')[-1]}' of rpx-{name} 1.0 is broken")
    assert hostile.says in line
    assert "\n" not in line


@pytest.mark.parametrize("name", HOSTILE)
def test_strict_makes_a_broken_plugin_fatal(site, name):
    site.plugin("rpx-good", GOOD)
    site.plugin(f"rpx-{name}", HOSTILE[name].source, metadata=HOSTILE[name].metadata)

    with pytest.raises(PluginError) as caught:
        site.host(strict=True)

    assert HOSTILE[name].says in caught.value.message
    assert caught.value.exit_code is ExitCode.PLUGIN
    assert site.warnings == []


def test_strict_accepts_good_plugins(site):
    site.plugin("rpx-good", GOOD)
    assert list(site.host(strict=True).offers("model")) == ["rpx-good/good"]


@pytest.mark.parametrize("name", HOSTILE)
def test_naming_a_model_of_a_broken_plugin_repeats_the_cause(site, name):
    site.plugin(f"rpx-{name}", HOSTILE[name].source, metadata=HOSTILE[name].metadata)

    with pytest.raises(PluginError) as caught:
        site.host().find("model", f"rpx-{name}/anything")

    assert HOSTILE[name].says in caught.value.message
    assert "rpx doctor" in caught.value.hint


def test_an_unknown_bare_name_names_the_broken_plugin_that_may_own_it(site):
    site.plugin("rpx-good", GOOD)
    site.plugin("rpx-import-error", HOSTILE["import-error"].source)

    with pytest.raises(ConfigError, match="no model is named 'goood'; did you mean good") as caught:
        site.host().find("model", "goood")

    assert "rpx-import-error 1.0 is broken and may own it" in caught.value.message
    assert "No module named 'a_library_that_is_missing'" in caught.value.message


def test_the_traceback_starts_in_the_plugin(site, tmp_path):
    site.plugin("rpx-raising", HOSTILE["raising-hook"].source)

    lines = only_plugin(site).traceback.splitlines()

    assert lines[0] == "Traceback (most recent call last):"
    assert str(tmp_path / "rpx_raising.py") in lines[1]
    assert lines[-1] == "OSError: weights folder is gone"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def rpx_models():\n    return []", "rpx_models in rpx_bad is not marked with @hookimpl"),
        ("x = 1", "rpx_bad implements no hook"),
        (
            "@hookimpl\ndef rpx_models(registry):\n    return []",
            "rpx_models has no argument 'registry'; it has none",
        ),
        (
            "@hookimpl\ndef rpx_sample_scored(rows):\n    pass",
            "rpx_sample_scored has no argument 'rows'; it has record, row",
        ),
        ("raise OSError('libcudart.so.11: cannot open')", "OSError: libcudart.so.11"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("def f(:", "SyntaxError"),
        ("def f(): return f()\nf()", "RecursionError"),
    ],
    ids=lambda value: value[:30],
)
def test_a_module_that_breaks_the_contract_is_set_aside(site, source, says):
    site.plugin("rpx-bad", source)
    plugin = only_plugin(site)
    assert plugin.status is Status.BROKEN
    assert says in plugin.problem


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return None", "returned None"),
        ("return 'midas'", "returned an object of type str"),
        ("return b'midas'", "returned an object of type bytes"),
        ("return 3", "returned an object of type int"),
        ("return model('midas')", "returned the ModelSpec 'midas'"),
        ("return {'midas': model('midas')}", "offers an object of type str"),
        ("return [metric('midas')]", "offers the MetricSpec 'midas'"),
        ("return [ModelSpec]", "offers an object of type type"),
        ("return [model('Not Allowed')]", "name 'Not Allowed' is not allowed"),
        ("return [model('midas', tasks=5)]", "tasks is 5; tuple[str, ...] was expected"),
        ("return [model('midas', tasks=(None,))]", "tasks is (None,); tuple[str, ...]"),
        ("yield model('first')\n    raise ValueError('midway')", "ValueError: midway"),
        ("import sys\n    sys.exit(3)", "SystemExit: 3"),
    ],
)
def test_a_hook_that_returns_anything_but_specs_is_set_aside(site, body, says):
    site.plugin("rpx-bad", f"@hookimpl\ndef rpx_models():\n    {body}\n")
    host = site.host()
    assert host.offers("model") == {}
    assert says in host.plugins[0].problem
    assert len(site.warnings) == 1


def test_a_plugin_that_fails_halfway_is_fully_rolled_back(site):
    source = GOOD + "\n@hookimpl\ndef rpx_metrics():\n    raise ValueError('half')\n"
    site.plugin("rpx-half", source)
    host = site.host()
    assert list(host.offers("model")) == ["rpx-half/good"]

    assert host.offers("metric") == {}

    assert host.offers("model") == {}
    assert len(site.warnings) == 1


def test_keyboard_interrupt_is_not_the_plugins_fault(site):
    site.plugin("rpx-slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        site.host().offers("model")


def test_a_hostile_message_still_costs_one_short_line(site):
    source = "raise ValueError('first\\nsecond \\x1b[31m' + 'x' * 5000)"
    site.plugin("rpx-loud", source)
    problem = only_plugin(site).problem
    assert "first second [31m" in problem
    assert len(problem) <= 300


def test_an_exception_that_cannot_be_printed_is_survived(site):
    source = """
        class Cruel(Exception):
            def __str__(self):
                raise RuntimeError("not even this")

        raise Cruel
    """
    site.plugin("rpx-cruel", source)
    assert "Cruel" in only_plugin(site).problem


def test_what_a_plugin_prints_does_not_reach_stdout(site, capsys):
    source = """
        print("imported")

        @hookimpl
        def rpx_models():
            print("called")
            return []

        @hookimpl
        def rpx_run_started():
            print("notified")
    """
    site.plugin("rpx-chatty", source)
    host = site.host()
    host.offers("model")
    host.notify("rpx_run_started", record=None)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.split() == ["imported", "called", "notified"]


def test_the_default_warning_is_a_line_on_stderr(site, tmp_path, capsys):
    site.plugin("rpx-exit", "raise SystemExit")
    Host.discover(path=[str(tmp_path)]).offers("model")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("warning: plugin 'exit' of rpx-exit 1.0 is broken")


@pytest.mark.parametrize(
    "text",
    ["two\nlines", "bell\a", "\x1b[31mred", "\u202etxt.exe"],
    ids=["line", "bell", "escape", "bidi"],
)
def test_a_spec_that_would_steer_the_terminal_breaks_its_plugin(site, text):
    """Every text that `rpx list` prints, not the summary alone."""
    for field in ("summary", "unavailable"):
        name = f"rpx-{field}"
        fields = {"name": "m", "summary": "A toy.", "target": "toy:load", field: text}
        source = f"@hookimpl\ndef rpx_models():\n    return [ModelSpec(tasks=(), **{fields!r})]\n"
        site.plugin(name, source)
    host = site.host()
    assert host.offers("model") == {}
    assert ["control character" in plugin.problem for plugin in host.plugins] == [True, True]
    assert all(line.isprintable() for line in site.warnings)


def test_a_spec_name_with_a_control_character_breaks_its_plugin(site):
    site.plugin("rpx-name", "@hookimpl\ndef rpx_models():\n    return [model('a\\nb')]\n")
    assert "is not allowed" in only_plugin(site).problem
