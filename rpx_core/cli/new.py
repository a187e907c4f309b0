"""`rpx new`: a plugin package to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from rpx_core.cli.output import State, common_options, print_json

KINDS = ("model", "task", "metric", "adapter", "reporter", "dataset", "protocol")


@click.command(
    epilog="""\b
Examples:
  rpx new model my-model                        for monocular_depth
  rpx new model my-model --task object_detection
  rpx new metric my-metric --output ~/plugins
  rpx new task door-angle                       a task with data, metric and baseline
"""
)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="here",
    help="The folder that gets the new one.",
)
@click.option("--task", help="The task it is for.")
@common_options
def new(*, state: State, kind: str, name: str, output: Path, task: str | None) -> None:
    """Write the package rpx-NAME, a working plugin that offers one KIND of thing.

    It passes `rpx check` and its own tests as it is; edit it from there. Nothing is overwritten.
    """
    from rpx_core.skeletons.writer import write_skeleton

    folder = write_skeleton(kind, name, output, task=task)
    if state.as_json:
        print_json({"folder": str(folder)})
        return
    console = state.console()
    for line in (
        f"wrote {folder}; now:",
        f"  pip install -e '{folder}[test]'",
        f"  rpx check {folder}",
        f"  pytest {folder}",
    ):
        console.print(line, markup=False, soft_wrap=True)
