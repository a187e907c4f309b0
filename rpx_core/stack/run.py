"""Running the plan of a stack: resume what is there, do the rest, fold, report."""

from __future__ import annotations

from collections.abc import Sequence

from rpx_core.host import Host
from rpx_core.lifecycle import (
    Request,
    announce_end,
    announce_rows,
    announce_start,
    fold_run,
    judge,
    open_journal,
    open_run,
)
from rpx_core.progress import Progress, Silent
from rpx_core.run import Outcome, load_reporter, write_reports
from rpx_core.stack.pictures import draw_worst
from rpx_core.stack.plan import StackPlan
from rpx_core.stack.worker import StackWorker


def run_stack(
    plan: StackPlan, host: Host, request: Request, progress: Progress | None = None
) -> Outcome:
    """Measure what is left of a stack and write its reports; the same call again resumes.

    Everything happens in this process; `request.shard` spreads it over several.
    """
    mine = open_run(plan, request)
    renderers = {name: load_reporter(host, name) for name in request.reporters}
    announce_start(host, plan)
    done = _measure(plan, host, mine, progress or Silent())
    results = draw_worst(plan, fold_run(plan, request, mine))
    written = write_reports(plan.directory / "report", results, renderers)
    announce_end(host, results)
    return Outcome(plan.directory, results, written, judge(plan, results), done)


def _measure(plan: StackPlan, host: Host, mine: Sequence[str], progress: Progress) -> int:
    """Commit every sequence that is not closed yet, or has failed samples.

    Returns how many samples that were.
    """
    with open_journal(plan) as journal:
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
            announce_rows(host, plan, block)
    finally:
        worker.close()
    return left


def _count(plan: StackPlan, names: Sequence[str]) -> int:
    return sum(len(plan.sequences[name]) for name in names)
