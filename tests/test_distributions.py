"""Metadata is read without imports, and damaged metadata is survived."""

from __future__ import annotations

import json
import sys

import pytest

from rpx_core.distributions import check_requires, installed_version, read_declarations
from rpx_core.errors import ConfigError
from tests.toys.site import GOOD, ToySite


@pytest.fixture
def site(tmp_path):
    return ToySite(tmp_path)


def declared(site: ToySite):
    return read_declarations([str(site.folder)])


def test_only_the_group_rpx_is_declared(site):
    site.distribution("other")
    site.distribution("rpx-toy", version="1.2", entry_points={"toy": "toy.plugin", "b": "toy.b"})
    found = [(one.distribution, one.version, one.label, one.value) for one in declared(site)]
    assert found == [
        ("rpx-toy", "1.2", "b", "toy.b"),
        ("rpx-toy", "1.2", "toy", "toy.plugin"),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Requires-Dist: rpx-core>=9", "requires rpx-core>=9, but 0.1.0 is installed"),
        ("Requires-Dist: RPX.core (>=9)", "requires rpx-core>=9, but 0.1.0 is installed"),
        ("Requires-Dist: rpx-core[parquet]<0.1", "requires rpx-core<0.1, but 0.1.0 is installed"),
        ("Requires-Dist: rpx-core>=9; python_version >= '3'", "requires rpx-core>=9"),
        ("Requires-Dist: rpx-core>=9; python_version < '3'", None),
        ("Requires-Dist: rpx-core>=9; extra == 'future'", None),
        ("Requires-Dist: rpx-core-extras>=9", None),
        ("Requires-Dist: rpx-core>=0.1,<0.2", None),
        ("Requires-Dist: rpx-core", None),
        ("Requires-Dist: rpx-core @ file:///somewhere", None),
        ("Requires-Dist: a line of nonsense >>", None),
        ("Requires-Dist: rpx-core >= banana", "its METADATA cannot be read"),
        ("Requires-Dist: rpx-core>=0.1; nonsense == 'x'", "its METADATA cannot be read"),
        ("Requires-Python: >=99", "requires Python >=99, but this is 3."),
        ("Requires-Python: >=3.11", None),
        ("Requires-Python: three", "its METADATA cannot be read"),
    ],
)
def test_requirements_are_held_against_this_core_and_this_python(site, line, problem):
    site.distribution("rpx-toy", metadata=line, entry_points={"toy": "toy"})
    (declaration,) = declared(site)
    if problem is None:
        assert declaration.problem is None
    else:
        assert problem in declaration.problem


def test_a_prerelease_of_core_satisfies_a_range_that_contains_it(tmp_path):
    site = ToySite(tmp_path, core="0.2.0rc1")
    site.distribution("rpx-toy", metadata="Requires-Dist: rpx-core>=0.1", entry_points={"t": "t"})
    assert declared(site)[0].problem is None


def test_core_without_metadata_is_said_clearly(tmp_path):
    (declaration,) = read_declarations([str(tmp_path)])
    assert declaration.distribution == "rpx-core"
    assert "without being installed" in declaration.problem
    assert "pip install -e" in declaration.problem


@pytest.mark.parametrize("first_has_plugins", [True, False])
def test_the_first_of_two_equal_distributions_wins(tmp_path, first_has_plugins):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    first, second = ToySite(tmp_path / "first"), ToySite(tmp_path / "second")
    first.distribution(
        "rpx-toy", version="2.0", entry_points={"toy": "toy"} if first_has_plugins else None
    )
    second.distribution("RPX_toy", version="1.0", entry_points={"toy": "toy"})

    found = read_declarations([str(first.folder), str(second.folder)])

    assert [one.version for one in found] == (["2.0"] if first_has_plugins else [])


def test_what_an_interrupted_uninstall_leaves_behind_is_ignored(tmp_path):
    (tmp_path / "site").mkdir()
    site = ToySite(tmp_path / "site")
    site.distribution("rpx-toy", version="1.0", entry_points={"toy": "toy"})
    leftover = tmp_path / "earlier" / "rpx_toy-0.9.dist-info"
    leftover.mkdir(parents=True)
    found = read_declarations([str(leftover.parent), str(site.folder)])
    assert [one.version for one in found] == ["1.0"]


def test_metadata_that_is_missing_sets_the_plugin_aside(site):
    info = site.distribution("rpx-toy", entry_points={"toy": "toy"})
    (info / "METADATA").unlink()
    (declaration,) = declared(site)
    assert str(site.folder) in declaration.problem
    assert declaration.label == "toy"


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00garbage", b"Name: \n", b"Version: 1\n\n" + b"x" * 1000],
    ids=["empty", "binary", "blank name", "no name"],
)
def test_damaged_metadata_sets_the_plugin_aside(site, data):
    info = site.distribution("rpx-toy", entry_points={"toy": "toy"})
    (info / "METADATA").write_bytes(data)
    (declaration,) = declared(site)
    assert "METADATA" in declaration.problem


@pytest.mark.parametrize(
    "data",
    [b"\xff\xfe[rpx]\n", b"[unclosed\nx", b"no section = at all", b"\x00" * 100],
)
def test_damaged_entry_points_of_another_distribution_are_skipped(site, data):
    info = site.distribution("other", entry_points={"x": "x"})
    (info / "entry_points.txt").write_bytes(data)
    site.distribution("rpx-toy", entry_points={"toy": "toy"})
    assert [one.distribution for one in declared(site)] == ["rpx-toy"]


@pytest.mark.parametrize("line", ["no equals sign", "label =", "= module", "toy = not a module!"])
def test_damaged_entry_points_of_a_plugin_are_the_plugins_problem(site, line):
    info = site.distribution("rpx-toy", entry_points={"toy": "toy"})
    (info / "entry_points.txt").write_text(f"[rpx]\n{line}\n", encoding="utf-8")
    assert all(plugin.problem for plugin in site.host().plugins)
    assert len(site.warnings) == len(site.host().plugins) == 1


@pytest.mark.parametrize(
    ("origin", "editable"),
    [
        ({"url": "file:///x", "dir_info": {"editable": True}}, True),
        ({"url": "file:///x", "dir_info": {}}, False),
        ({"url": "https://x", "archive_info": {}}, False),
        ([1], False),
    ],
)
def test_editable_installs_are_told_apart(site, origin, editable):
    info = site.distribution("rpx-toy", entry_points={"toy": "toy"})
    (info / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    assert declared(site)[0].editable is editable


def test_installed_version_is_none_for_what_is_not_installed(site):
    path = [str(site.folder)]
    assert installed_version("RPX_Core", path=path) == "0.1.0"
    assert installed_version("rpx-absent", path=path) is None


def test_pins_that_hold_pass(site):
    check_requires({"rpx_core": ">=0.1,<0.2"}, path=[str(site.folder)])


def test_a_pin_to_any_version_still_needs_the_distribution(site):
    check_requires({"rpx-core": ""}, path=[str(site.folder)])
    with pytest.raises(ConfigError, match="rpx-absent, but it is not installed"):
        check_requires({"rpx-absent": ""}, path=[str(site.folder)])


def test_unmet_pins_say_what_is_there_and_how_to_get_the_rest(site):
    with pytest.raises(ConfigError) as caught:
        check_requires({"rpx-seg": ">=0.1", "rpx-core": ">=9"}, path=[str(site.folder)])
    assert caught.value.message == (
        "the configuration requires rpx-core>=9, but 0.1.0 is installed; "
        "rpx-seg>=0.1, but it is not installed"
    )
    assert caught.value.hint == 'pip install "rpx-core>=9" "rpx-seg>=0.1"'


@pytest.mark.parametrize("name", ["rpx-core", "rpx-absent"])
def test_a_pin_that_is_no_range_is_refused(site, name):
    with pytest.raises(ConfigError, match=r"'0\.1' is not a version range"):
        check_requires({name: "0.1"}, path=[str(site.folder)])


def test_pins_are_checked_before_any_plugin_is_imported(site):
    site.plugin("rpx-toy", GOOD)
    with pytest.raises(ConfigError):
        check_requires({"rpx-toy": ">=2"}, path=[str(site.folder)])
    assert "rpx_toy" not in sys.modules
