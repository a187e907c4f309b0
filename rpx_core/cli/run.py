"""`rpx run`: evaluate models on data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rpx_core.cli.names import complete
from rpx_core.cli.output import State, common_options, print_json
from rpx_core.cli.settings import (
    data_options,
    execution_options,
    flags_layer,
    parse_formats,
    parse_shard,
    report_options,
)

if TYPE_CHECKING:
    from rpx_core.host import Host
    from rpx_core.lifecycle import Request
    from rpx_core.plan import Plan
    from rpx_core.run import Outcome


@click.command(
    epilog="""\b
Examples:
  rpx run                                                every baseline, on the demo data
  rpx run --data motorcycle --model stereo-sgbm          a real model on a real image
  rpx run --task monocular_depth --model my_model.py:predict
  rpx run --model hf:weights/dpt                         a folder, or a model of the hub
  rpx run --data set.json --align median --by scene      scale-free, sliced by scene
  rpx run evaluation.toml --workers 4                    everything else in a file
  rpx run evaluation.toml --shard 2/3                    one of three machines
  rpx run --model my_model.py:predict --profile          and what it costs
  rpx run --protocol nyu-eigen-1 --data nyu.json
"""
)
@click.argument(
    "config", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--model",
    help="Model name, file.py:function, or hf:CHECKPOINT. [default: the task's baseline]",
    shell_complete=complete("model"),
)
@data_options
@click.option("--seed", type=click.IntRange(min=0), help="Seed of models that draw.")
@click.option("--batch-size", type=click.IntRange(min=1), metavar="N", help="Samples per batch.")
@click.option(
    "--device",
    multiple=True,
    help="Device of each worker in turn, such as cuda:0. [default: auto: a GPU if there is one]",
)
@click.option(
    "--profile",
    is_flag=True,
    help="Also measure parameters, FLOPs, memory and latency of the model.",
)
@click.option("--save-predictions", is_flag=True, help="Keep predictions, for `rpx score`.")
@execution_options
@report_options
@common_options
def run(*, state: State, config: Path | None, **flags: Any) -> int:
    """Evaluate a model; the same command again resumes.

    Without --task and --model, every installed task that fits the data is run. A run is one folder:
    what defines its numbers makes its name, so that an interrupted, sharded or repeated command
    always finds its own.
    """
    from rpx_core.cli.summary import exit_code, outcome_document, print_next_steps
    from rpx_core.documents import read_toml
    from rpx_core.layers import Layers, make_plans
    from rpx_core.lifecycle import DEFAULT_REPORTERS, Request

    file = read_toml(config) if config else {}
    layers = Layers(flags_layer(flags), file, source=str(config or "command line"))
    request = Request(
        shard=parse_shard(flags["shard"]),
        fresh=flags["fresh"],
        by=flags["by"],
        reporters=parse_formats(flags["formats"], DEFAULT_REPORTERS),
        profile=flags["profile"],
    )
    host = state.discover()
    plans = make_plans(host, layers, flags["output"])
    outcomes = _evaluate(plans, host, request, state)
    if state.as_json:
        print_json({"runs": [outcome_document(outcome) for outcome in outcomes]})
    print_next_steps(state.console(), outcomes, is_bare=not layers.flags and not file)
    return exit_code(outcomes, strict=state.strict)


def _evaluate(plans: Sequence[Plan], host: Host, request: Request, state: State) -> list[Outcome]:
    """Run one plan after another, and print what comes out of each."""
    from rpx_core.cli.progress import progress_bar
    from rpx_core.cli.summary import print_outcome
    from rpx_core.run import run as evaluate

    # All of them first: a slice that the last plan lacks must not come up after hours.
    for plan in plans:
        plan.check_slices(request.by)
    console = state.console()
    outcomes = []
    for plan in plans:
        title = f"{plan.record.model} on {plan.record.data}"
        with state.foreign_output(), progress_bar(state, title) as progress:
            outcome = evaluate(plan, host, request, progress)
        outcomes.append(outcome)
        print_outcome(console, outcome)
    return outcomes
