"""The tables that a run prints when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from rpx_core.cli.tables import (
    tabulate_efficiency,
    tabulate_numbers,
    tabulate_scores,
    tabulate_slices,
)

if TYPE_CHECKING:
    from rich.console import Console

    from rpx_core.report import Report
    from rpx_core.run import Outcome

MAX_FAILURES = 5


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Headline numbers, readiness, costs, failures and where the reports are."""
    report = outcome.report
    _print_opening(console, report)
    if not outcome.samples_done:
        console.print("[dim]nothing was left to do; --fresh does it all again[/]")
    for reason in report.status.partial:
        console.print(f"[yellow]partial:[/] {escape(reason)}")
    _print_tables(console, report)
    _print_failures(console, report)
    for warning in report.warnings:
        console.print(f"[yellow]warning:[/] {escape(warning)}")
    for path in outcome.written:
        if path.suffix in {".html", ".md"}:
            console.print(f"report: {escape(str(path))}", soft_wrap=True)


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
    task = outcomes[0].report.run.task.rpartition("/")[2]
    console.print(
        "\n[bold]Next[/]\n"
        f"  open {escape(str(directory / 'report' / 'report.html'))}\n"
        "  rpx list models                       what else can run\n"
        f"  rpx run --model my_model.py:predict --task {escape(task)}\n"
        "                                        your own function: image in, prediction out\n"
        "  rpx data --help                       your own data\n",
        soft_wrap=True,
    )


def _print_opening(console: Console, report: Report) -> None:
    status = report.status
    console.print(
        f"\n[bold]{escape(report.run.model)}[/] on [bold]{escape(report.run.data)}[/], "
        f"{escape(report.run.task.split('/')[-1])}: "
        f"{status.evaluated_samples} of {status.dataset_samples} samples"
        + (f", [red]{status.failed} failed[/]" if status.failed else "")
    )
    if report.run.alignment:
        console.print(f"[yellow]aligned:[/] {escape(report.run.alignment)}")
    if report.run.protocol:
        console.print(f"protocol: {escape(report.run.protocol)}")


def _print_tables(console: Console, report: Report) -> None:
    label = report.primary.partition(".")[0]
    headlines = [number for number in report.numbers if number.headline]
    shown = [number for number in headlines if number.label == label]
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
    for failed in report.failures[:MAX_FAILURES]:
        console.print(
            f"[red]failed[/] {escape(failed.id)} ({failed.failure.stage}, "
            f"{escape(failed.failure.error)}): {escape(' '.join(failed.failure.text.split()))}",
            soft_wrap=True,
        )
    if len(report.failures) > MAX_FAILURES:
        console.print(f"[red]failed[/] and {len(report.failures) - MAX_FAILURES} more")
