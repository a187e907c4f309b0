"""Running the plan of a stack: resume what is there, do the rest, fold, report."""

from __future__ import annotations

from collections.abc import Sequence

from rpx_core.errors import ExitCode
from rpx_core.host import Host
from rpx_core.journal import Journal, read_rows
from rpx_core.plan import shard
from rpx_core.progress import Progress, Silent
from rpx_core.report import Results
from rpx_core.results import collect_from, write_record
from rpx_core.run import (
    Outcome,
    Request,
    clear_run,
    load_reporter,
    write_reports,
)
from rpx_core.stack.pictures import draw_worst
from rpx_core.stack.plan import StackPlan
from rpx_core.stack.worker import StackWorker


def run_stack(
    plan: StackPlan, host: Host, request: Request, progress: Progress | None = None
) -> Outcome:
    """Measure what is left of a stack and write its reports; the same call again resumes.

    Everything happens in this process; `request.shard` spreads it over several.
    """
    if request.fresh:
        clear_run(plan.directory)
    write_record(plan.directory, plan.record)
    renderers = {name: load_reporter(host, name) for name in request.reporters}
    host.notify("rpx_run_started", record=plan.record)
    done = _measure(plan, host, request, progress or Silent())
    results = draw_worst(plan, _fold(plan, request))
    written = write_reports(plan.directory / "report", results, renderers)
    host.notify("rpx_run_finished", record=plan.record, report=results.report)
    return Outcome(plan.directory, results, written, _exit_code(plan, results), done)


def _measure(plan: StackPlan, host: Host, request: Request, progress: Progress) -> int:
    """Commit every sequence of this shard that is not closed yet, or has failed samples.

    Returns how many samples that were.
    """
    names = list(plan.sequences)
    mine = shard(names, *request.shard) if request.shard else names
    selection = _selection(plan)
    with Journal(plan.directory / "journal", plan.record.identity, selection) as journal:
        closed = {name for name, block in journal.blocks.items() if block.failed == 0}
    todo = [name for name in mine if name not in closed]
    if not todo:
        return 0
    total, left = _count(plan, mine), _count(plan, todo)
    progress.begin(total, total - left)
    worker = StackWorker(plan)
    try:
        for name in todo:
            block = worker.run(name)
            progress.advance(_count(plan, [name]))
            if host.listens("rpx_sample_scored"):
                for row in read_rows(plan.directory / "journal", block):
                    host.notify("rpx_sample_scored", record=plan.record, row=row)
    finally:
        worker.close()
    return left


def _fold(plan: StackPlan, request: Request) -> Results:
    notes = [f"shard {request.shard[0]} of {request.shard[1]}"] if request.shard else []
    with Journal(plan.directory / "journal", plan.record.identity, _selection(plan)) as journal:
        return collect_from(journal, plan.record, plan.metrics, by=request.by, notes=notes)


def _selection(plan: StackPlan) -> dict[str, list[str]]:
    return {name: [one.id for one in joined] for name, joined in plan.sequences.items()}


def _count(plan: StackPlan, names: Sequence[str]) -> int:
    return sum(len(plan.sequences[name]) for name in names)


def _exit_code(plan: StackPlan, results: Results) -> ExitCode:
    if results.problems:
        return ExitCode.PLUGIN
    too_many = results.report.status.failed > plan.config.execution.max_failed
    return ExitCode.INCOMPLETE if too_many else ExitCode.OK
