"""What commands share: global flags, errors on stderr, JSON on stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rpx_core.streams import stdout_to_stderr

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from rpx_core.host import Host

MAX_SHOWN = 4000
"""Characters of a message or hint."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class State:
    """The global flags, wherever on the command line they stand."""

    quiet: bool = False
    as_json: bool = False
    strict: bool = False

    def also(self, *, quiet: bool, as_json: bool, strict: bool) -> State:
        """The flags of the group and of the command together."""
        return replace(
            self,
            quiet=self.quiet or quiet,
            as_json=self.as_json or as_json,
            strict=self.strict or strict,
        )

    def discover(self) -> Host:
        """The installed plugins."""
        from rpx_core.cli.progress import watch_downloads
        from rpx_core.host import Host

        return Host.discover(strict=self.strict, watch=watch_downloads(self))

    def foreign_output(self) -> AbstractContextManager[None]:
        """While models run, what they print goes to stderr under `--json`: stdout is a document."""
        return stdout_to_stderr() if self.as_json else nullcontext()

    def console(self) -> Console:
        """Where tables go; silent under `--quiet` and `--json`."""
        from rpx_core.cli.terminal import Terminal

        return Terminal(quiet=self.quiet or self.as_json, highlight=False, soft_wrap=False)


def common_options(command: F) -> F:
    """Add `--quiet`, `--json` and `--strict` to a command; it receives `state`."""

    def wrapped(*, quiet: bool, as_json: bool, strict: bool, **arguments: Any) -> Any:
        ctx = click.get_current_context()
        base = ctx.find_object(State) or State()
        return command(state=base.also(quiet=quiet, as_json=as_json, strict=strict), **arguments)

    wrapped.__doc__ = command.__doc__
    wrapped.__name__ = command.__name__
    decorated = click.option(
        "--strict", is_flag=True, help="A broken plugin, or a metric without any value, is fatal."
    )(wrapped)
    decorated = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")(
        decorated
    )
    decorated = click.option("--quiet", is_flag=True, help="Print errors only.")(decorated)
    params = [*getattr(command, "__click_params__", []), *decorated.__click_params__]  # type: ignore[attr-defined]  # set by click
    decorated.__click_params__ = params  # type: ignore[attr-defined]  # set by click
    return decorated  # type: ignore[return-value]  # click reads the parameters above


def show_path(path: Path) -> str:
    """A path as it is shortest from where the command was typed."""
    here = path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def print_json(document: Mapping[str, Any] | list[Any]) -> None:
    """One JSON document on stdout; strict, so no NaN."""
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False, default=str)
    try:
        click.echo(text)
    except BrokenPipeError:
        drop_stdout()


def drop_stdout() -> None:
    """Let everything that is still written to stdout go nowhere: its reader went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass(frozen=True)
class Told:
    """An error as the user reads it."""

    message: str
    hint: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


def print_error(told: Told, *, as_json: bool) -> None:
    """One paragraph on stderr, or an object on stdout under `--json`; endless text is cut."""
    message, hint = _shown(told.message), _shown(told.hint or "") or None
    if as_json:
        error = {"message": message, "hint": hint, "details": dict(told.details)}
        print_json({"error": error})
        return
    sys.stdout.flush()
    label = click.style("error:", fg="red", bold=True)
    click.echo(f"{label} {_printable(message)}", err=True)
    if hint:
        click.echo(f"  hint: {_printable(hint)}", err=True)


def _shown(text: str) -> str:
    """Text without its middle where it is longer than anyone reads; ends often say most."""
    if len(text) <= MAX_SHOWN:
        return text
    kept = MAX_SHOWN // 2
    return f"{text[:kept]} ... ({len(text)} characters) ... {text[-kept:]}"


def _printable(text: str) -> str:
    """Text without control characters: a file name must not steer the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
