"""Start-up budgets with thirty plugins installed, whose models take two seconds to import."""

from __future__ import annotations

import pytest

from tests.startup.command import Command, import_seconds
from tests.toys.decoys import add_decoys
from tests.toys.site import ToySite

DECOYS = 30
HEAVY = {"numpy", "pydantic", "torch", "rich", "PIL"}
IMPORT_BUDGET_S = 0.100
HELP_BUDGET_S = 0.150
LIST_BUDGET_S = 0.300


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    add_decoys(ToySite(folder, core=None), DECOYS)
    return folder


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_help_imports_nothing_heavy_and_no_plugin(site, arguments):
    imported = Command(site, arguments).imported()
    assert "click" in imported
    assert imported & HEAVY == set()
    assert {name for name in imported if "decoy" in name} == set()
    assert "rpx_core.host" not in imported


def test_the_import_keeps_its_budget():
    assert import_seconds(IMPORT_BUDGET_S) < IMPORT_BUDGET_S


def test_help_keeps_its_budget(site):
    assert Command(site, ("--help",)).best_seconds(HELP_BUDGET_S) < HELP_BUDGET_S


def test_list_shows_the_decoys_without_importing_their_models(site):
    command = Command(site, ("list", "models"))
    output = command.run().stdout
    assert [f"decoy-{n:02}" for n in range(DECOYS) if f"decoy-{n:02}" not in output] == []
    imported = command.imported()
    assert "rpx_decoy_07" in imported
    assert {name for name in imported if name.endswith("_model")} == set()
    assert imported & {"numpy", "torch", "PIL"} == set()


def test_list_keeps_its_budget(site):
    assert Command(site, ("list", "models")).best_seconds(LIST_BUDGET_S) < LIST_BUDGET_S
