"""`rpx check`: does a plugin package keep its contracts?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rpx_core.cli.output import State, common_options, print_json
from rpx_core.errors import ConfigError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

    from rpx_core.conformance.laws import Outcome
    from rpx_core.conformance.suite import Conformance


@click.command(
    epilog="""\b
Examples:
  rpx check rpx-mine                      an installed plugin
  rpx check .                             the package in this folder, installed or not
  rpx check rpx-mine --allow-missing-extras
  rpx check rpx-mine --set my-model.checkpoint='"weights.pt"'
  rpx check rpx-mine --skip my-model='needs weights that cannot be shared'
"""
)
@click.argument("package")
@click.option(
    "--allow-missing-extras",
    is_flag=True,
    help="Accept that what needs an extra that is not installed is not checked.",
)
@click.option("--data", multiple=True, help="Data to check on, before the embedded.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME.OPTION=VALUE", help="Options of a spec."
)
@click.option(
    "--skip", multiple=True, metavar="NAME=REASON", help="Do not check a spec, and say why."
)
@common_options
def check(*, state: State, package: str, **given: Any) -> int:
    """Check every task, metric, model, ... that PACKAGE offers against the laws of its kind.

    PACKAGE is an installed distribution or the folder of its pyproject.toml. Exit code 4 when a
    law is broken, or when something could not be checked and neither an option nor the package's
    own conformance.toml explains that.
    """
    from rpx_core.conformance.bench import Settings
    from rpx_core.conformance.child import Assignment, check_apart
    from rpx_core.conformance.laws import Excuses

    settings = Settings(tuple(given["data"]), parse_options(given["settings"]))
    excuses = Excuses(given["allow_missing_extras"], parse_reasons(given["skip"]))
    found = check_apart(Assignment(package, settings, excuses))
    if state.as_json:
        print_json(found.document())
    else:
        _print(state.console(), found)
    return ExitCode.OK if found.passes else ExitCode.PLUGIN


def parse_options(settings: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """`NAME.OPTION=VALUE` as options by name; raises ConfigError for anything else."""
    from rpx_core.cli.settings import flags_layer

    found: dict[str, dict[str, Any]] = {}
    for setting in settings:
        address, equals, _ = setting.partition("=")
        name, dot, option = address.rpartition(".")
        if not (equals and dot and name and option):
            raise ConfigError(f"--set {setting!r}: NAME.OPTION=VALUE was expected")
        found.setdefault(name, {}).update(flags_layer({"settings": (setting[len(name) + 1 :],)}))
    return dict(found)


def parse_reasons(skip: Iterable[str]) -> dict[str, str]:
    """`NAME=REASON` as reasons by name; raises ConfigError for a skip without a reason."""
    found = {}
    for entry in skip:
        name, _, reason = entry.partition("=")
        if not name.strip() or not reason.strip():
            raise ConfigError(f"--skip {entry!r}: NAME=REASON was expected")
        found[name.strip()] = reason.strip()
    return found


def _print(console: Console, found: Conformance) -> None:
    from rich.table import Table

    from rpx_core.cli.tables import plain
    from rpx_core.conformance.laws import Verdict

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(plain(found.distribution), style="bold")
    for verdict in Verdict:
        table.add_column(verdict.value, justify="right")
    for subject, counts in found.by_subject().items():
        cells = [str(counts[verdict]) if counts[verdict] else "" for verdict in Verdict]
        table.add_row(plain(subject), *cells)
    console.print(table)
    console.print()
    for outcome in found.outcomes:
        if outcome.verdict is not Verdict.PASSED and not outcome.follows:
            console.print(_line(outcome), markup=False, soft_wrap=True)
    console.print(
        f"{len(found.outcomes)} checks: "
        + ", ".join(f"{found.count(verdict)} {verdict}" for verdict in Verdict)
        + ("" if found.passes else "; the package does not pass"),
        markup=False,
    )


def _line(outcome: Outcome) -> str:
    from rpx_core.reporters.formatting import reveal

    word = "FAILED" if outcome.is_fatal and outcome.verdict == "failed" else "not checked"
    accepted = " [accepted]" if outcome.excused else ""
    return reveal(f"{word}: {outcome.subject}: {outcome.law}: {outcome.detail}{accepted}")
