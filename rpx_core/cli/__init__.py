"""The command line. Each command lives in its own module, imported when it is asked for.

`rpx --help` must stay instant whatever is installed: nothing here imports numpy, pydantic, rich
or a plugin, and plugins cannot add commands.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from io import TextIOWrapper
from types import MappingProxyType
from typing import Any

import click

from rpx_core.cli.output import State, Told, drop_stdout, print_error
from rpx_core.errors import ExitCode, RPXError
from rpx_core.interrupts import is_interrupt, watch_interrupts

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "run": ("rpx_core.cli.run:run", "Evaluate a model; the same command again resumes."),
        "score": ("rpx_core.cli.score:score", "Evaluate prediction files, no model needed."),
        "stack": ("rpx_core.cli.stack:stack", "Measure how runs of two tasks fit together."),
        "report": ("rpx_core.cli.report:report", "Render the reports of finished runs again."),
        "list": ("rpx_core.cli.listing:list_", "Show tasks, models, metrics, datasets, ..."),
        "data": ("rpx_core.cli.data:data", "Write, index and check datasets."),
        "new": ("rpx_core.cli.new:new", "Write a plugin package to begin with."),
        "check": ("rpx_core.cli.check:check", "Check a plugin package against its contracts."),
        "doctor": ("rpx_core.cli.doctor:doctor", "Show the state of every plugin."),
        "completion": ("rpx_core.cli.completion:completion", "Print shell completion code."),
    }
)

EPILOG = """\b
Examples:
  rpx run                                   every task's baseline on the embedded demo data
  rpx run --data motorcycle --model stereo-sgbm
  rpx run --model my_model.py:predict --task monocular_depth
  rpx score --task monocular_depth --data set.json --predictions out/
  rpx list models
"""


class LazyGroup(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the table from the static summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command when one is misspelt."""
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            from rpx_core.spelling import did_you_mean

            meant = did_you_mean(name, COMMANDS) or "`rpx --help` lists them"
            ctx.fail(f"no such command {name!r}; {meant}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--quiet", is_flag=True, help="Print errors only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option(
    "--strict", is_flag=True, help="A broken plugin, or a metric without any value, is fatal."
)
@click.version_option(package_name="rpx-core", prog_name="rpx")
@click.pass_context
def cli(ctx: click.Context, *, quiet: bool, as_json: bool, strict: bool) -> None:
    """Which perception model to put on the robot, and how sure you can be."""
    ctx.obj = State(quiet=quiet, as_json=as_json, strict=strict)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with the documented code."""
    # Sums of numpy's BLAS depend on its threads: one here, as in every worker process.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_standard_streams()
    watch_interrupts()
    for stream in (sys.stdout, sys.stderr):
        # Arrows in tables must not end a command whose output is read as ASCII.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    code = invoke(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
    except OSError as error:
        drop_stdout()
        code = _explain(error, as_json=False)
    sys.exit(code)


def _open_standard_streams() -> None:
    """A closed descriptor would be taken by the next file that is opened, and printed into."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for good
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for good


def invoke(arguments: list[str]) -> int:
    """Run one command; every way it can end becomes an exit code and at most one paragraph."""
    try:
        value: Any = cli.main(args=arguments, prog_name="rpx", standalone_mode=False)
        return int(value) if isinstance(value, int) else ExitCode.OK
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`rpx list | head`): not an error of ours.
        drop_stdout()
        return ExitCode.OK
    except BaseException as error:  # The last line of defence before the shell.
        if os.environ.get("RPX_DEBUG"):
            traceback.print_exc()
        return _explain(error, as_json="--json" in arguments)


def _explain(error: BaseException, *, as_json: bool) -> ExitCode:
    """Tell the user what happened, and the shell by which code."""
    match error:
        case _ if isinstance(error, click.Abort) or is_interrupt(error):
            told = Told("interrupted", "finished work is kept; the same command resumes")
            code = ExitCode.INTERRUPTED
        case click.exceptions.NoArgsIsHelpError() if not as_json:
            click.echo(error.format_message())
            return ExitCode.USAGE
        case click.UsageError():
            hint = f"{error.ctx.command_path} --help" if error.ctx else None
            told, code = Told(error.format_message(), hint), ExitCode.USAGE
        case click.ClickException():
            told, code = Told(error.format_message()), ExitCode.USAGE
        case RPXError():
            told, code = Told(error.message, error.hint, error.details), error.exit_code
        case OSError():
            told = Told(f"{error.filename or 'output'}: {error.strerror or error}")
            code = ExitCode.INCOMPLETE
        case _:
            told = Told(
                f"internal error: {type(error).__name__}: {error}",
                "this is a bug in rpx; RPX_DEBUG=1 shows where. Finished work is kept",
            )
            code = ExitCode.INTERNAL
    try:
        print_error(told, as_json=as_json)
    except (OSError, ValueError):
        # Nobody reads stdout, or it is full; nobody may read stderr either.
        with suppress(OSError, ValueError):
            print_error(told, as_json=False)
    return code
