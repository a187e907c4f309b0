"""Running a plan: resume what is there, do the rest, fold, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from rpx_core.atomic import write_atomic
from rpx_core.blocks import Block
from rpx_core.errors import (
    ConfigError,
    ExitCode,
    PluginError,
)
from rpx_core.executors.process import run_processes
from rpx_core.executors.serial import run_serial
from rpx_core.extras import require_extra
from rpx_core.freshness import check_unchanged
from rpx_core.host import Host
from rpx_core.isolation import call_plugin, load_target
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
from rpx_core.plan import Plan
from rpx_core.predictions import file_stem
from rpx_core.profiling.child import Assignment, choose_works, profile_job
from rpx_core.profiling.storage import write_profile
from rpx_core.progress import Progress, Silent
from rpx_core.report import Failure, Report, Results


@dataclass(frozen=True)
class Outcome:
    """A finished run: where it is, what it says, and the exit code it deserves."""

    directory: Path
    results: Results
    written: tuple[Path, ...]
    exit_code: ExitCode
    samples_done: int = 0
    """How many samples this call did; the rest was done before, or is left to other shards."""

    @property
    def report(self) -> Report:
        """The report of the run."""
        return self.results.report


def run(plan: Plan, host: Host, request: Request, progress: Progress | None = None) -> Outcome:
    """Do what is left of a plan and write its reports; the same call again resumes.

    A finished run is folded again without predicting anything. Raises RPXError when it cannot
    go on; what was committed stays and the next call continues there.
    """
    directory = plan.directory
    mine = open_run(plan, request)
    renderers = {name: load_reporter(host, name) for name in request.reporters}
    todo = _find_todo(plan, mine)
    announce_start(host, plan)
    if todo:
        with chdir(Path.cwd()):  # whatever a model does to it
            _execute(plan, host, todo, mine, progress or Silent())
    problems = _profile(plan) if request.profile else ()
    results = _warn(fold_run(plan, request, mine), problems)
    written = write_reports(directory / "report", results, renderers)
    announce_end(host, results)
    done = sum(len(plan.samples[name]) for name in todo)
    return Outcome(directory, results, written, judge(plan, results), done)


def _find_todo(plan: Plan, mine: Sequence[str]) -> list[str]:
    """The sequences that are not done; raises DatasetError where files of the others changed."""
    with open_journal(plan) as journal:
        closed = {name for name, block in journal.blocks.items() if block.failed == 0}
        kept = [journal.blocks[name] for name in mine if name in closed]
        check_unchanged(plan.manifest.files, plan.directory / "journal", kept)
    return [name for name in mine if name not in closed or _lacks_predictions(plan, name)]


def load_reporter(host: Host, name: str) -> Renderer:
    """The render function of a reporter; raises ConfigError when its extra is not installed."""
    offer = host.find("reporter", name)
    require_extra(offer)
    renderer: Renderer = load_target(offer.spec.target, wanted_by=offer.full_name)
    return renderer


def write_reports(
    directory: Path, results: Results, renderers: Mapping[str, Renderer]
) -> tuple[Path, ...]:
    """Render everything, then write each file whole: a failing reporter leaves no half report."""
    files: dict[str, bytes] = {}
    owners: dict[str, str] = {}
    for reporter, render in renderers.items():
        rendered = call_plugin(f"reporter {reporter}", partial(_render, render, results))
        for name, content in rendered.items():
            check_rendered(reporter, name, content)
            if name in files:
                raise PluginError(
                    f"reporters {owners[name]} and {reporter} both write {name}",
                    hint="leave one of them out of --as, or tell its author",
                )
            files[name], owners[name] = content, reporter
    for name, content in files.items():
        write_atomic(directory / name, content)
    return tuple(directory / name for name in files)


def _render(render: Renderer, results: Results) -> dict[str, bytes]:
    return dict(render(results))


def check_rendered(reporter: str, name: object, content: object) -> None:
    """Raise PluginError unless a reporter gave bytes under a plain file name."""
    if not isinstance(name, str) or name in {"", ".", ".."} or Path(name).name != name:
        raise PluginError(
            f"reporter {reporter} wants to write {name!r}, which is no file name",
            hint="tell its author: `rpx check` shows what reporters are held to",
        )
    if not isinstance(content, bytes):
        raise PluginError(
            f"reporter {reporter} gave {type(content).__name__} for {name}; bytes were expected",
            hint="tell its author: `rpx check` shows what reporters are held to",
        )


class Renderer(Protocol):
    """What a reporter's target is."""

    def __call__(self, results: Results) -> Mapping[str, bytes]:
        """File names and contents."""
        ...


class _Observer:
    """Passes progress on, and committed rows to the plugins that want to see them."""

    def __init__(self, plan: Plan, host: Host, progress: Progress) -> None:
        self._plan = plan
        self._host = host
        self._progress = progress

    def started(self, sample_ids: Sequence[str]) -> None:
        """Nothing: progress counts what is committed."""

    def closed(self, block: Block) -> None:
        self._progress.advance(len(self._plan.samples[block.sequence]))
        announce_rows(self._host, self._plan, block)


def _execute(
    plan: Plan, host: Host, todo: Sequence[str], mine: Sequence[str], progress: Progress
) -> None:
    count = {name: len(plan.samples[name]) for name in mine}
    progress.begin(sum(count.values()), sum(count.values()) - sum(count[name] for name in todo))
    observer = _Observer(plan, host, progress)
    execution = plan.config.execution
    executor = execution.executor or ("process" if execution.workers > 1 else "serial")
    if executor == "serial":
        if execution.workers > 1:
            raise ConfigError(
                "execution: the serial executor has one worker",
                hint='leave `executor` out, or set it to "process"',
            )
        run_serial(plan.job, plan.work(todo), observer)
    else:
        run_processes(
            plan.job,
            plan.work(todo),
            observer,
            workers=execution.workers,
            devices=execution.devices,
        )


def _profile(plan: Plan) -> tuple[str, ...]:
    """Profile the model and store that; why it could not be done is a warning, never an error."""
    if plan.job.model.kind == "files":
        return ("prediction files cannot be profiled: the model that made them is not here",)
    works = choose_works(plan.work(list(plan.samples)), plan.job.batch_size)
    outcome = profile_job(Assignment(plan.job, works))
    if isinstance(outcome, Failure):
        return (f"the model could not be profiled: {outcome.error}: {outcome.text}",)
    write_profile(plan.directory, outcome)
    return ()


def _warn(results: Results, warnings: Sequence[str]) -> Results:
    report = results.report
    more = report.model_copy(update={"warnings": (*report.warnings, *warnings)})
    return replace(results, report=more)


def _lacks_predictions(plan: Plan, sequence: str) -> bool:
    """Whether predictions are to be saved and this sequence was done without that."""
    if not plan.config.execution.save_predictions:
        return False
    folder, suffix = plan.directory / "predictions", plan.resolved.task.suffix
    files = (folder / f"{file_stem(name)}{suffix}" for name in plan.samples[sequence])
    # After a power failure a file may be there without its content.
    return not all(file.is_file() and file.stat().st_size for file in files)
