"""What every run goes through, of one task or of a stack: opened, observed, folded, judged."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rpx_core.blocks import Block
from rpx_core.config import RunConfig
from rpx_core.contracts import Metric
from rpx_core.errors import ConfigError, ExitCode, IncompleteRunError, JournalError, first_few
from rpx_core.files import quote
from rpx_core.host import Host
from rpx_core.journal import Journal, read_rows
from rpx_core.plan import shard
from rpx_core.profiling.storage import NAME as PROFILE
from rpx_core.report import Results, RunRecord
from rpx_core.results import collect_from
from rpx_core.run_json import check_record, write_record

DEFAULT_REPORTERS = ("json", "markdown", "csv", "html")
DERIVED = ("report", "previews")


@dataclass(frozen=True)
class Request:
    """How to run a plan, beside the plan: none of it can change a number."""

    shard: tuple[int, int] | None = None
    fresh: bool = False
    by: tuple[str, ...] = ()
    reporters: tuple[str, ...] = DEFAULT_REPORTERS
    profile: bool = False
    """Also measure what the model costs, in a pass of its own after the evaluation."""


class Planned(Protocol):
    """What is known of any run before it starts."""

    @property
    def config(self) -> RunConfig:
        """The settings."""
        ...

    @property
    def record(self) -> RunRecord:
        """What `run.json` says."""
        ...

    @property
    def directory(self) -> Path:
        """The run directory."""
        ...

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by label."""
        ...

    @property
    def samples(self) -> Mapping[str, Sequence[str]]:
        """The ids of the samples, by sequence."""
        ...


def open_run(plan: Planned, request: Request) -> list[str]:
    """The sequences that this call is to see done.

    What was done before is kept, unless the request says to forget it. Nothing is written yet: a
    run directory begins with the first worker that is ready (`join_run`), so a model that cannot be
    set up leaves none behind. Raises ConfigError where forgetting would delete the work of other
    shards, and JournalError where the directory is another run's.
    """
    if request.fresh and request.shard:
        raise ConfigError(
            "--fresh would delete what the other shards of this run have done",
            hint="run it once without --shard, or remove the run directory yourself",
        )
    _check_place(plan.directory)
    if request.fresh:
        clear_run(plan.directory)
    check_record(plan.directory, plan.record)
    names = list(plan.samples)
    return shard(names, *request.shard) if request.shard else names


def _check_place(directory: Path) -> None:
    """Raise JournalError for what no file system takes as a folder, before work is done for it."""
    try:
        directory.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:  # too long, or with NUL or half characters
        problem = (isinstance(error, OSError) and error.strerror) or error
        raise JournalError(
            f"{quote(str(directory))} cannot be the folder of a run: {problem}",
            hint="name another folder for the runs",
        ) from error


def open_journal(plan: Planned) -> Journal:
    """What is committed of this run, and of nothing else."""
    return Journal(plan.directory / "journal", plan.record.identity, plan.samples)


def fold_run(plan: Planned, request: Request, mine: Sequence[str]) -> Results:
    """Everything that is committed, folded.

    Raises IncompleteRunError where sequences of this call are not in the journal: their numbers
    would be missing from a report that says nothing of it.
    """
    # Also of a shard without work: merging is copying this folder.
    write_record(plan.directory, plan.record)
    (plan.directory / "journal").mkdir(exist_ok=True)
    notes = [f"shard {request.shard[0]} of {request.shard[1]}"] if request.shard else []
    with open_journal(plan) as journal:
        results = collect_from(journal, plan.record, plan.metrics, by=request.by, notes=notes)
    lost = [name for name in mine if name not in results.sequences]
    if lost:
        raise IncompleteRunError(
            f"{plan.directory / 'journal'} lacks {len(lost)} of the {len(mine)} sequences that "
            f"were done: {first_few(lost, 3)}",
            hint="it was removed or damaged while the run went on (by --fresh?); run the same "
            "command again",
        )
    return results


def announce_start(host: Host, plan: Planned) -> None:
    """Tell observers; they get copies: the mappings inside a frozen record could be changed."""
    host.notify("rpx_run_started", record=plan.record.model_copy(deep=True))


def announce_rows(host: Host, plan: Planned, block: Block) -> None:
    """Tell observers of every sample of a committed sequence, if any listen."""
    if not host.listens("rpx_sample_scored"):
        return
    for row in read_rows(plan.directory / "journal", block):
        if row.unit.is_of_one_sample:
            record = plan.record.model_copy(deep=True)
            host.notify("rpx_sample_scored", record=record, row=row)


def announce_end(host: Host, results: Results) -> None:
    """Tell observers of the report, if any listen."""
    if host.listens("rpx_run_finished"):
        report = results.report.model_copy(deep=True)
        host.notify("rpx_run_finished", record=report.run, report=report)


def clear_run(directory: Path) -> None:
    """Forget a run that may be folded again: its journal and all that derives from it."""
    try:
        for name in ("journal", "predictions", *DERIVED):
            if (directory / name).exists():
                shutil.rmtree(directory / name)
        for name in ("run.json", PROFILE):
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise JournalError(
            f"{error.filename or directory} cannot be removed: {error.strerror or error}",
            hint="--fresh needs that; remove the run directory yourself",
        ) from error


def judge(plan: Planned, results: Results) -> ExitCode:
    """The exit code that finished results deserve."""
    if results.problems:
        return ExitCode.PLUGIN
    too_many = results.report.status.failed > plan.config.execution.max_failed
    return ExitCode.INCOMPLETE if too_many else ExitCode.OK
