"""`rpx score`: evaluate prediction files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rpx_core.cli.output import State, common_options, print_json
from rpx_core.cli.settings import (
    data_options,
    execution_options,
    flags_layer,
    parse_formats,
    parse_shard,
    report_options,
)


@click.command(
    epilog="""\b
Examples:
  rpx score --task monocular_depth --data set.json --predictions out/
  rpx score --data set.json --predictions out/ --set options.prediction_scale=0.001
  rpx score evaluation.toml --predictions out/     metrics and options in a file
  rpx run --model stereo-sgbm --data motorcycle --save-predictions
"""
)
@click.argument(
    "config", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--predictions",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of prediction files: one per sample, named by its id, or a format of the task "
    "that holds many (COCO results, MOTChallenge).",
)
@data_options
@execution_options
@report_options
@common_options
def score(*, state: State, config: Path | None, predictions: Path, **flags: Any) -> int:
    """Evaluate prediction files of any program, with the same numbers as a run.

    A file belongs to the sample whose id is its name; characters that no file name may have are
    percent-encoded (`/` as %2F). Every missing file is a failed sample, every extra one a
    warning.
    """
    from rpx_core.cli.progress import progress_bar
    from rpx_core.cli.summary import exit_code, outcome_document, print_outcome
    from rpx_core.documents import read_toml
    from rpx_core.layers import Layers, make_plans
    from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
    from rpx_core.models import files_model
    from rpx_core.run import run as evaluate

    model = files_model(predictions)
    request = Request(
        shard=parse_shard(flags["shard"]),
        fresh=flags["fresh"],
        by=flags["by"],
        reporters=parse_formats(flags["formats"], DEFAULT_REPORTERS),
    )
    host = state.discover()
    file = read_toml(config) if config else {}
    layers = Layers(flags_layer(flags), file, source=str(config or "command line"))
    # Files are of one task: what could be of several is refused.
    (plan,) = make_plans(host, layers, flags["output"], model=model)
    plan.check_slices(request.by)
    title = f"{plan.record.model} on {plan.record.data}"
    with state.foreign_output(), progress_bar(state, title) as progress:
        outcome = evaluate(plan, host, request, progress)
    print_outcome(state.console(), outcome)
    if state.as_json:
        print_json({"runs": [outcome_document(outcome)]})
    return exit_code([outcome], strict=state.strict)
