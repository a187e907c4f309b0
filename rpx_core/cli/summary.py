"""The tables that a run prints when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rpx_core.cli.output import show_path
from rpx_core.cli.tables import (
    plain,
    tabulate_efficiency,
    tabulate_numbers,
    tabulate_scores,
    tabulate_slices,
)
from rpx_core.errors import ExitCode, count_of, first_few
from rpx_core.failures import group_failures
from rpx_core.names import bare_name

if TYPE_CHECKING:
    from rich.console import Console

    from rpx_core.report import Report
    from rpx_core.run import Outcome

MAX_NUMBERS = 24
"""Rows up to which the numbers of all metrics are shown, and not of the primary one alone."""
MAX_FAILURES = 5
"""Kinds of failures shown."""


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Headline numbers, readiness, costs, failures and where the reports are."""
    report = outcome.report
    _print_heading(console, outcome)
    if report.status.evaluated_samples:
        _print_numbers(console, report)
    _print_failures(console, report)
    for warning in report.warnings:
        console.print(f"[yellow]warning:[/] {plain(warning)}", soft_wrap=True)
    for path in outcome.written:
        if path.suffix in {".html", ".md"}:
            console.print(f"report: {plain(show_path(path))}", soft_wrap=True)


def _print_heading(console: Console, outcome: Outcome) -> None:
    report = outcome.report
    status = report.status
    console.print(
        f"\n[bold]{plain(report.run.model)}[/] on [bold]{plain(report.run.data)}[/], "
        f"{plain(report.run.task.split('/')[-1])}: "
        f"{status.evaluated_samples:,} of {count_of(status.dataset_samples, 'sample')}"
        + (f", [red]{status.failed} failed[/]" if status.failed else "")
    )
    if report.run.alignment:
        console.print(f"[yellow]aligned:[/] {plain(report.run.alignment)}")
    if report.run.protocol:
        console.print(f"protocol: {plain(report.run.protocol)}")
    if not outcome.samples_done:
        console.print("[dim]nothing was left to do; --fresh does it all again[/]")
    for reason in status.partial:
        console.print(f"[yellow]partial:[/] {plain(reason)}")


def _print_numbers(console: Console, report: Report) -> None:
    label = report.primary.partition(".")[0]
    headlines = [number for number in report.numbers if number.headline]
    shown = [number for number in headlines if number.label == label]
    if len(headlines) <= MAX_NUMBERS:
        shown += [number for number in headlines if number.label != label]
    console.print(tabulate_numbers(shown))
    if len(headlines) > len(shown):
        others = sorted({number.label for number in headlines} - {label})
        console.print(f"[dim]and {len(headlines) - len(shown)} of {', '.join(others)}[/]")
    scores = [score for score in report.readiness.scores if score.value is not None]
    if scores:
        console.print(tabulate_scores(report.readiness.rules, scores))
    if report.slices:
        console.print(tabulate_slices(report))
    if report.efficiency is not None:
        console.print(tabulate_efficiency(report.efficiency))


def _print_failures(console: Console, report: Report) -> None:
    kinds = group_failures(report.failures)
    for kind in kinds[:MAX_FAILURES]:
        count = f"{count_of(len(kind.ids), 'sample')}: " if len(kind.ids) > 1 else ""
        console.print(
            f"[red]failed[/] {count}{plain(first_few(kind.ids, 3))} ({kind.failure.stage}, "
            f"{plain(kind.failure.error)}): {plain(' '.join(kind.failure.text.split()))}",
            soft_wrap=True,
        )
    if len(kinds) > MAX_FAILURES:
        console.print(f"[red]failed[/] in {len(kinds) - MAX_FAILURES} more ways; see the report")


def exit_code(outcomes: Sequence[Outcome], *, strict: bool) -> ExitCode:
    """The worst of the outcomes; when strict, a metric that has no value at all counts too."""
    codes = [outcome.exit_code for outcome in outcomes]
    if strict and any(outcome.report.labels_without_value for outcome in outcomes):
        codes.append(ExitCode.INCOMPLETE)
    return max(codes)


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """What `--json` prints of one run."""
    report = outcome.report
    return {
        "run": str(outcome.directory),
        "exit_code": int(outcome.exit_code),
        "status": report.status.model_dump(mode="json"),
        "primary": report.primary,
        "numbers": [number.model_dump(mode="json") for number in report.numbers],
        "readiness": report.readiness.model_dump(mode="json"),
        "efficiency": report.efficiency
        and report.efficiency.model_dump(mode="json", by_alias=True),
        "warnings": list(report.warnings),
        "files": [str(path) for path in outcome.written],
    }


def print_next_steps(console: Console, outcomes: Sequence[Outcome], *, is_bare: bool) -> None:
    """What to try after a first run."""
    if not is_bare or not outcomes:
        return
    directory = outcomes[0].directory
    task = bare_name(outcomes[0].report.run.task)
    console.print(
        "\n[bold]Next[/]\n"
        f"  open {plain(show_path(directory / 'report' / 'report.html'))}\n"
        "  rpx list models                       what else can run\n"
        f"  rpx run --model my_model.py:predict --task {plain(task)}\n"
        "                                        your own function: image in, prediction out\n"
        "  rpx data --help                       your own data\n",
        soft_wrap=True,
    )
