"""The flags that set fields of the configuration, and how they become a layer of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from rpx_core.cli.names import complete
from rpx_core.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])

_FIELDS: Mapping[str, str] = {
    "task": "task",
    "model": "model",
    "data": "data",
    "split": "data.split",
    "limit": "data.limit",
    "protocol": "protocol",
    "align": "align",
    "readiness": "readiness",
    "seed": "seed",
    "workers": "execution.workers",
    "batch_size": "execution.batch_size",
    "device": "execution.devices",
    "max_failed": "execution.max_failed",
    "save_predictions": "execution.save_predictions",
}

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


def data_options(command: F) -> F:
    """Flags that say what is evaluated."""
    return _apply(
        setting_options(command),
        click.option(
            "--task", help="Task, as in `rpx list tasks`.", shell_complete=complete("task")
        ),
        click.option(
            "--data",
            help="Dataset name, or the path of a manifest. [default: demo]",
            shell_complete=complete("dataset"),
        ),
        click.option("--split", help="Only this split (easy, medium, hard)."),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            metavar="N",
            help="Only the first N samples; marks the run partial.",
        ),
        click.option(
            "--protocol",
            help="Versioned choices, as in `rpx list protocols`.",
            shell_complete=complete("protocol"),
        ),
        click.option(
            "--align",
            metavar="METHOD[:SCOPE]",
            help="Fit predictions to the truth: none, median, ...; scope sample "
            "(default) or sequence.",
        ),
    )


def setting_options(command: F) -> F:
    """Flags that say by which rules, and that set any field."""
    return _apply(
        command,
        click.option(
            "--readiness",
            type=click.Choice(["rpx-1", "rpx-2"]),
            help="Rules of the readiness scores. [default: rpx-2]",
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="A.B=VALUE",
            help="Set any other field of the configuration; VALUE is TOML.",
        ),
    )


def execution_options(command: F) -> F:
    """Flags that say how the work is done; none can change a number."""
    return _apply(
        resume_options(command),
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            metavar="N",
            help="Worker processes. [default: 1, in this process]",
        ),
    )


def resume_options(command: F) -> F:
    """Those flags that need no worker processes."""
    return _apply(
        command,
        click.option("--shard", metavar="I/N", help="Only shard I of N (from 1), by sequence."),
        click.option("--fresh", is_flag=True, help="Forget what this run has already done."),
        click.option(
            "--max-failed",
            type=click.IntRange(min=0),
            metavar="N",
            help="Samples that may fail before the exit code is 3. [default: 0]",
        ),
        click.option(
            "--output",
            type=click.Path(path_type=Path, file_okay=False),
            default=Path("runs"),
            show_default=True,
            help="Folder of the runs.",
        ),
    )


def report_options(command: F) -> F:
    """Flags that say what is reported."""
    return _apply(
        command,
        click.option(
            "--as",
            "formats",
            metavar="FORMATS",
            help="Comma-separated reporters. [default: json,markdown,csv,html]",
        ),
        click.option(
            "--by",
            multiple=True,
            metavar="KEYS",
            callback=_split_keys,
            help="Also by phase, difficulty, scene, sequence or metadata keys, comma-separated.",
        ),
    )


def _split_keys(
    context: click.Context, option: click.Parameter, values: Sequence[str]
) -> tuple[str, ...]:
    """Each key once, in the order given."""
    keys = (key.strip() for value in values for key in value.split(","))
    return tuple(dict.fromkeys(key for key in keys if key))


def flags_layer(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The layer of the configuration that the flags set; `--set` comes last."""
    from rpx_core.config import set_field

    layer: dict[str, Any] = {}
    # Parents first: --data names what --split and --limit narrow.
    for flag, address in _FIELDS.items():
        value = arguments.get(flag)
        if value is not None and value is not False and value != ():
            set_field(layer, address, list(value) if isinstance(value, tuple) else value)
    for assignment in arguments.get("settings", ()):
        address, equals, text = assignment.partition("=")
        if not equals or not address:
            raise ConfigError(f"--set {assignment}: A.B=VALUE was expected")
        set_field(layer, address.strip(), _toml_value(text.strip(), assignment))
    return layer


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """(i, n) of `i/n`; raises ConfigError unless 1 <= i <= n."""
    if text is None:
        return None
    match = _SHARD.fullmatch(text)
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        raise ConfigError(f"--shard {text}: I/N with 1 <= I <= N was expected, such as 2/3")
    return index, count


def parse_formats(text: str | None, default: Sequence[str]) -> tuple[str, ...]:
    """Reporter names of a comma-separated list."""
    if text is None:
        return tuple(default)
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _toml_value(text: str, assignment: str) -> Any:
    from rpx_core.documents import read_toml

    try:
        table = read_toml(f"value = {text}".encode(), source=f"--set {assignment}")
        if len(table) > 1:
            raise ConfigError(f"--set {assignment!r} sets several fields; one was expected")
        return table["value"]
    except ConfigError:
        # A bare word is a string: --set model.name=x needs no second pair of quotes.
        if re.fullmatch(r"[\w./@:+-]+", text):
            return text
        raise


def _apply(command: F, *options: Callable[[F], F]) -> F:
    for option in reversed(options):
        command = option(command)
    return command
