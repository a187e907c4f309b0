"""`rpx stack`: measure how the predictions of finished runs fit together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rpx_core.cli.names import complete
from rpx_core.cli.output import State, common_options, print_json
from rpx_core.cli.settings import (
    flags_layer,
    parse_formats,
    parse_shard,
    report_options,
    resume_options,
    setting_options,
)


@click.command(
    epilog="""\b
Examples:
  rpx run --task object_segmentation --save-predictions
  rpx run --task monocular_depth --save-predictions
  rpx stack RUN_SEG RUN_DEPTH --data demo
  rpx stack RUN_SEG RUN_DEPTH --set metrics.sgc.name=sgc --set metrics.sgc.options.tolerance_px=2
"""
)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN_SEG RUN_DEPTH",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--data",
    help="The data of the runs: for pictures, and to align predictions as the runs did.",
    shell_complete=complete("dataset"),
)
@setting_options
@resume_options
@report_options
@common_options
def stack(*, state: State, runs: tuple[Path, ...], **flags: Any) -> int:
    """Measure how the saved predictions of finished runs fit together; no model runs.

    By default, whether the outlines of masks lie where depth jumps. Samples join by id and image;
    one that a run lacks is undefined, and counted. The result is a run like any other: the same
    command again resumes, and `rpx report` renders it again.
    """
    from rpx_core.cli.progress import progress_bar
    from rpx_core.cli.summary import exit_code, outcome_document, print_outcome
    from rpx_core.config import build_config
    from rpx_core.distributions import check_requires
    from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
    from rpx_core.stack.plan import make_stack_plan
    from rpx_core.stack.run import run_stack

    config = build_config(flags_layer(flags), source="command line")
    check_requires(config.requires)
    request = Request(
        shard=parse_shard(flags["shard"]),
        fresh=flags["fresh"],
        by=flags["by"],
        reporters=parse_formats(flags["formats"], DEFAULT_REPORTERS),
    )
    host = state.discover()
    plan = make_stack_plan(config, host, runs, flags["output"])
    with state.foreign_output(), progress_bar(state, f"stack on {plan.record.data}") as progress:
        outcome = run_stack(plan, host, request, progress)
    print_outcome(state.console(), outcome)
    if state.as_json:
        print_json({"runs": [outcome_document(outcome)]})
    return exit_code([outcome], strict=state.strict)
