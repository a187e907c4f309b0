"""`rpx report`: render stored results again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rpx_core.cli.output import State, common_options, print_json
from rpx_core.cli.settings import parse_formats, report_options


@click.command(
    epilog="""\b
Examples:
  rpx report runs/ground-plane_monocular-depth_demo-1a2b3c4d
  rpx report runs/* --as markdown --by scene
  rpx report RUN --as parquet
"""
)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@report_options
@common_options
def report(*, state: State, runs: tuple[Path, ...], **flags: Any) -> int:
    """Fold the journals of runs again and write their reports; nothing is predicted.

    Copy the `journal/` folders of shards together first: merging is copying files.
    """
    from rpx_core.results import collect, read_record, stored_metrics
    from rpx_core.run import DEFAULT_REPORTERS, load_reporter, write_reports

    host = state.discover()
    console = state.console()
    names = parse_formats(flags["formats"], DEFAULT_REPORTERS)
    renderers = {name: load_reporter(host, name) for name in names}
    written: list[Path] = []
    for directory in runs:
        record = read_record(directory)
        results = collect(directory, record, stored_metrics(record, host), by=flags["by"])
        written += write_reports(directory / "report", results, renderers)
    for path in written:
        console.print(str(path), markup=False, soft_wrap=True)
    if state.as_json:
        print_json({"files": [str(path) for path in written]})
    return 0
