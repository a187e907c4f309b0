"""`conformance.toml`: what a package says of its own checks, to `rpx check` and to pytest alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from rpx_core.conformance.bench import Settings
from rpx_core.conformance.laws import Check, Excuses, Verdict
from rpx_core.conformance.package import open_package
from rpx_core.conformance.suite import NOTHING_GIVEN, Conformance, check_package
from rpx_core.errors import ConfigError, PluginError
from rpx_core.skeletons.writer import write_skeleton
from rpx_core.testing import conformance
from tests.commands import rpx
from tests.toys.site import importable

OWN = ("rpx-depth", "rpx-seg", "rpx-detection", "rpx-pose", "rpx-nvs")


@pytest.mark.parametrize("package", OWN)
def test_our_own_plugins_pass_as_the_guide_checks_them(tmp_path: Path, package: str) -> None:
    found = rpx(tmp_path, "check", package, "--allow-missing-extras")
    assert (found["passes"], found["failed"]) == (True, 0)
    assert all(one["detail"] for one in found["outcomes"] if one["verdict"] == "skipped")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with one model, whose option `near_m` must be given."""
    folder = write_skeleton("model", "needy", tmp_path)
    source = folder / "rpx_needy" / "model.py"
    text = source.read_text(encoding="utf-8")
    assert "near_m: Metres = 0.5" in text
    source.write_text(text.replace("near_m: Metres = 0.5", "near_m: Metres"), encoding="utf-8")
    return folder


def state(package: Path, text: str) -> None:
    (package / "rpx_needy" / "conformance.toml").write_text(text, encoding="utf-8")


def check(package: Path, settings: Settings = NOTHING_GIVEN) -> Conformance:
    with importable(package):
        return check_package(open_package(package), settings)


def details(found: Conformance) -> list[str]:
    return [o.detail for o in found.outcomes if o.verdict is Verdict.SKIPPED and not o.follows]


def test_without_a_word_what_cannot_be_checked_does_not_pass(package: Path) -> None:
    found = check(package)
    assert not found.passes
    assert "needy must be given near_m" in details(found)[0]


def test_options_that_the_package_states_are_checked_with(package: Path) -> None:
    state(package, "[options.needy]\nnear_m = 1.0\n")
    found = check(package)
    assert (found.passes, found.count(Verdict.SKIPPED)) == (True, 0)


def test_what_the_caller_gives_goes_before_what_the_package_states(package: Path) -> None:
    state(package, '[options.needy]\nnear_m = "not a number"\n')
    assert not check(package).passes
    assert check(package, Settings(options={"needy": {"near_m": 1.0}})).passes


@pytest.mark.parametrize("table", ["explain", "skip"])
def test_a_reason_is_accepted_and_shown_as_the_packages_own(package: Path, table: str) -> None:
    state(package, f'[{table}]\nneedy = "nobody knows the number"\n')
    found = check(package)
    assert found.passes
    assert details(found)[0].endswith("as the package says: nobody knows the number")


@pytest.mark.parametrize("table", ["explain", "skip"])
def test_a_reason_is_void_once_the_caller_gives_options(package: Path, table: str) -> None:
    state(package, f'[{table}]\nneedy = "nobody knows the number"\n')
    found = check(package, Settings(options={"needy": {"near_m": 1.0}}))
    assert (found.passes, found.count(Verdict.SKIPPED)) == (True, 0)


def test_an_explanation_excuses_no_broken_law(package: Path) -> None:
    state(package, '[explain]\nneedy = "trust me"\n')
    found = check(package, Settings(options={"needy": {"near_m": "not a number"}}))
    assert found.count(Verdict.FAILED)
    assert not found.passes


def test_pytest_reads_the_same_statement(package: Path) -> None:
    state(package, "[options.needy]\nnear_m = 1.0\n")
    with importable(package):
        for planned in conformance(package):
            planned()
        state(package, '[explain]\nneedy = "nobody knows the number"\n')
        planned = next(one for one in conformance(package) if "what it needs" in str(one))
        with pytest.raises(pytest.skip.Exception, match="nobody knows the number"):
            planned()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[skip]\nneddy = "misspelt"\n', "nothing that is checked is called neddy"),
        ('[explain]\nneddy = "misspelt"\n', "nothing that is checked is called neddy"),
        ('[skip]\n"neddy*" = "misspelt"\n', r"nothing that is checked is called neddy\*"),
        ("[options.neddy]\nnear_m = 1.0\n", "is called neddy; did you mean needy?"),
        ('[skip]\nneedy = " "\n', r"conformance\.toml: skip\.needy: .*at least 1"),
        ("[options]\nneedy = 5\n", r"conformance\.toml: options\.needy: "),
        ("[skipped]\n", r"conformance\.toml: skipped: "),
        ("[skip\n", r"rpx-needy: conformance\.toml: is not TOML"),
    ],
)
def test_a_statement_that_says_nothing_useful_is_refused(
    package: Path, text: str, words: str
) -> None:
    state(package, text)
    with pytest.raises(PluginError, match=words):
        check(package)


def test_options_of_the_caller_for_what_nobody_has_are_refused(
    package: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"options: nothing .* called neddy; did you mean needy?"):
        check(package, Settings(options={"neddy": {"near_m": 1.0}}))
    told = rpx(tmp_path, "check", "rpx-nvs", "--set", "nosuch.x=1", expect=2)["error"]
    assert "nothing that is installed is called nosuch" in told["message"]


def test_options_of_what_is_installed_beside_the_package_are_taken(package: Path) -> None:
    state(package, "[options.needy]\nnear_m = 1.0\n[options.monocular_depth]\nmax_depth = 9.0\n")
    assert check(package).passes


def test_a_pattern_gives_one_reason_to_many_until_the_caller_gives_options(package: Path) -> None:
    state(package, '[skip]\n"nee*" = "nobody knows the number"\n')
    found = check(package)
    assert found.passes
    assert details(found)[0].endswith("as the package says: nobody knows the number")
    assert check(package, Settings(options={"needy": {"near_m": 1.0}})).count(Verdict.SKIPPED) == 0


def test_a_name_goes_before_a_pattern_and_the_callers_before_the_packages(package: Path) -> None:
    state(package, '[skip]\n"n*" = "of many"\nneedy = "of one"\n')
    assert details(check(package))[0].endswith("of one")
    with importable(package):
        found = check_package(open_package(package), excuses=Excuses(skip={"needy": "my own"}))
    assert details(found)[0] == "my own"


def test_no_explanation_covers_what_can_be_checked_anywhere() -> None:
    basic = Check("model mine", "it imports", lambda: None, basic=True)
    assert Excuses(skip={"mine": "a reason"}, explained={"mine": "a reason"}).reason(basic) is None
