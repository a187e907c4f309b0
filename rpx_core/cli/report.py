"""`rpx report`: render stored results again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rpx_core.cli.output import State, common_options, print_json, show_path
from rpx_core.cli.settings import parse_formats, report_options
from rpx_core.errors import ExitCode

if TYPE_CHECKING:
    from rpx_core.report import Report, Results


@click.command(
    epilog="""\b
Examples:
  rpx report runs/ground-plane_monocular-depth_demo-1a2b3c4d
  rpx report runs/* --as markdown --by scene,phase
  rpx report RUN_A RUN_B                                 side by side in both reports
  rpx report RUN --as parquet
"""
)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--max-failed",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Samples of a run that may fail before the exit code is 3. [default: 0]",
)
@report_options
@common_options
def report(*, state: State, runs: tuple[Path, ...], max_failed: int, **flags: Any) -> int:
    """Fold the journals of runs again and write their reports; nothing is predicted.

    Of several runs, those of the same task, data, protocol and metrics stand beside each other.
    The exit code is 3 if a run is unfinished or too much of it failed.

    Copy the `journal/` folders of shards together first: merging is copying files.
    """
    from rpx_core.cli.tables import plain, tabulate_runs, title_runs
    from rpx_core.comparable import find_differences
    from rpx_core.lifecycle import DEFAULT_REPORTERS
    from rpx_core.results import collect, stored_metrics
    from rpx_core.run import load_reporter, write_reports
    from rpx_core.run_json import read_record

    host = state.discover()
    console = state.console()
    names = parse_formats(flags["formats"], DEFAULT_REPORTERS)
    renderers = {name: load_reporter(host, name) for name in names}
    results: dict[Path, Results] = {}
    for directory in dict.fromkeys(path.resolve() for path in runs):
        record = read_record(directory)
        metrics = stored_metrics(record, host)
        results[directory] = collect(directory, record, metrics, by=flags["by"])
    groups = _group([one.report for one in results.values()])
    written: list[Path] = []
    for directory, one in results.items():
        (group,) = (group for group in groups if one.report in group)
        others = [report for report in group if report is not one.report]
        written += write_reports(directory / "report", replace(one, others=others), renderers)
    for group in groups:
        apart_in = find_differences(groups[0][0].run, group[0].run)
        console.print(f"[italic]{title_runs(group, apart=apart_in)}[/]", soft_wrap=True)
        console.print(tabulate_runs(group))
    for path in written:
        console.print(plain(show_path(path)), soft_wrap=True)
    apart = _tell_apart(groups)
    for line in apart:
        console.print(f"not beside each other: {line}", markup=False, soft_wrap=True)
    if state.as_json:
        print_json({"files": [str(path) for path in written], "apart": apart})
    return max(_exit_code(one, max_failed) for one in results.values())


def _group(reports: Sequence[Report]) -> list[list[Report]]:
    """The runs that may stand beside each other, in the order given."""
    from rpx_core.comparable import find_differences

    groups: list[list[Report]] = []
    for report in reports:
        fitting = (g for g in groups if not find_differences(g[0].run, report.run))
        group = next(fitting, None)
        if group is None:
            groups.append([report])
        else:
            group.append(report)
    return groups


def _tell_apart(groups: Sequence[Sequence[Report]]) -> list[str]:
    """Why each group is not in the first."""
    from rpx_core.comparable import find_differences
    from rpx_core.reporters.formatting import name_run

    first, *rest = (group[0].run for group in groups)
    return [
        f"{name_run(first)} and {name_run(other)} differ in "
        f"{', '.join(find_differences(first, other))}"
        for other in rest
    ]


def _exit_code(results: Results, max_failed: int) -> ExitCode:
    if results.problems:
        return ExitCode.PLUGIN
    status = results.report.status
    if status.failed > max_failed or status.unfinished_sequences:
        return ExitCode.INCOMPLETE
    return ExitCode.OK
