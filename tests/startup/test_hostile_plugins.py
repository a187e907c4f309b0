"""RW-120: one broken plugin must not break the tool, nor hide."""

from __future__ import annotations

import pytest

from rpx_core.errors import ExitCode
from tests.startup.command import Command
from tests.toys.hostile import HOSTILE
from tests.toys.site import GOOD, ToySite


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    site = ToySite(folder)
    for name, hostile in HOSTILE.items():
        site.plugin(f"rpx-{name}", hostile.source, metadata=hostile.metadata)
    site.plugin("rpx-good", GOOD)
    return folder


def test_help_does_not_notice_broken_plugins(folder):
    assert Command(folder, ("--help",)).run().stderr == ""


def test_a_good_plugin_is_listed_and_each_broken_one_costs_a_line(folder):
    result = Command(folder, ("list", "models")).run()
    assert "good" in result.stdout
    for name, hostile in HOSTILE.items():
        lines = [line for line in result.stderr.splitlines() if f"rpx-{name} 1.0" in line]
        assert len(lines) == 1
        assert hostile.says in lines[0]
    assert "Traceback" not in result.stderr


def test_strict_makes_a_broken_plugin_fatal(folder):
    command = Command(folder, ("--strict", "list", "models"))
    result = command.run(expected=ExitCode.PLUGIN)
    assert "is broken" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_doctor_explains_every_broken_plugin(folder):
    result = Command(folder, ("doctor",)).run()
    for hostile in HOSTILE.values():
        assert hostile.says in result.stdout
