"""`rpx doctor`: the state of every plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rpx_core.cli.output import State, common_options, print_json
from rpx_core.errors import ExitCode

if TYPE_CHECKING:
    from rpx_core.host import Host


@click.command(
    epilog="""\b
Examples:
  rpx doctor
  rpx doctor --json
  rpx doctor --strict        exit code 4 when a plugin is broken
"""
)
@common_options
def doctor(*, state: State) -> int:
    """Load every plugin and say how each fared, with tracebacks and version pins to paste."""
    from rpx_core.doctor import diagnose, to_dict, to_text
    from rpx_core.host import Host

    diagnosis = diagnose(Host.discover(warn=lambda _: None))
    if state.as_json:
        print_json(to_dict(diagnosis))
    elif not state.quiet:
        click.echo(to_text(diagnosis), nl=False)
    return ExitCode.PLUGIN if state.strict and not diagnosis.healthy else ExitCode.OK


def print_plugins(state: State, host: Host, name: str | None = None) -> None:
    """The table of plugins, or of those whose names contain `name`, for `rpx list plugins`."""
    from rich.markup import escape
    from rich.table import Table

    from rpx_core.doctor import HEADINGS, diagnose, select_plugins, to_dict, to_rows

    diagnosis = diagnose(host)
    if name is not None:
        diagnosis = select_plugins(diagnosis, name)
    if state.as_json:
        print_json(to_dict(diagnosis))
        return
    table = Table(*HEADINGS, box=None, pad_edge=False, header_style="dim")
    for row in to_rows(diagnosis):
        table.add_row(*(escape(cell) for cell in row))
    state.console().print(table)
