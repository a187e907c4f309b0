"""What a report says first: its primary number, what stands beside it, how complete it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from rpx_core.errors import count_of
from rpx_core.report import Number, Readiness, Report, RunRecord, Score, Status, Writer
from rpx_core.reporters.formatting import format_count

_REASONS_SHOWN = 2
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def headline_numbers(report: Report) -> tuple[Number, ...]:
    """The headline aggregate of every output, the primary one first."""
    numbers = [number for number in report.numbers if number.headline]
    return tuple(sorted(numbers, key=lambda number: not is_primary(number, report)))


def other_numbers(report: Report) -> tuple[Number, ...]:
    """The remaining aggregates."""
    return tuple(number for number in report.numbers if not number.headline)


def primary_number(report: Report) -> Number | None:
    """The number that stands for the run; None when the report lacks it."""
    matches = [number for number in report.numbers if is_primary(number, report)]
    return next((number for number in matches if number.headline), next(iter(matches), None))


def is_primary(number: Number, report: Report) -> bool:
    """Whether the number is of the primary output; the address may name an aggregate or not."""
    return report.primary in {number.address, f"{number.label}.{number.output}"}


def coverage_of(number: Number, report: Report) -> Number | None:
    """The coverage that the same metric reports: how much of the evidence a number is about."""
    beside = (
        other
        for other in report.numbers
        if other.headline and (other.label, other.output) == (number.label, "coverage")
    )
    return next((other for other in beside if other != number), None)


def is_partial(status: Status) -> bool:
    """Whether the numbers are not those of the whole dataset."""
    return not status.complete or bool(status.partial)


def describe_status(status: Status) -> str:
    """One line: complete or partial, how many of how many samples, how many failed, why."""
    word = "Partial" if is_partial(status) else "Complete"
    line = (
        f"{word}: {format_count(status.evaluated_samples)} of "
        f"{count_of(status.dataset_samples, 'sample')} evaluated"
    )
    if status.selected_samples != status.dataset_samples:
        line += f", {format_count(status.selected_samples)} selected"
    line += f", {format_count(status.failed_samples)} failed"
    if status.failed_others:
        others = format_count(status.failed_others)
        line += f", {others} pairs, sequences or single metrics failed beside them"
    return f"{line} ({'; '.join(status.partial)})" if status.partial else line


def where_it_ran(writers: Iterable[Writer]) -> tuple[str, ...]:
    """Device and number format of the processes that did the work, each pair once.

    What the model says counts: it alone knows the name of the hardware, and its number format.
    """
    places = (
        ", ".join(
            [
                writer.model.get("device", writer.device),
                *filter(None, [writer.model.get("dtype")]),
            ]
        )
        for writer in writers
    )
    return tuple(sorted(set(places)))


def interval_reasons(numbers: Iterable[Number | Score]) -> tuple[str, ...]:
    """Why numbers have no interval, each reason once."""
    reasons = (n.interval_reason or "no reason given" for n in numbers if n.interval is None)
    return tuple(dict.fromkeys(reasons))


def why_no_score(readiness: Readiness) -> tuple[str, ...]:
    """Why not a single readiness score has a value, in few words; nothing where one has."""
    if any(score.value is not None for score in readiness.scores):
        return ()
    reasons = list(dict.fromkeys(score.reason or "undefined" for score in readiness.scores))
    more = len(reasons) - _REASONS_SHOWN
    return (*reasons[:_REASONS_SHOWN], *([f"{more} reasons more"] if more > 0 else []))


def pins(run: RunRecord) -> str:
    """A `[requires]` table that holds a configuration to the versions this run had."""
    versions = run.inputs.get("distributions")
    if not isinstance(versions, Mapping):
        return ""
    lines = [_pin(name, version) for name, version in sorted(versions.items()) if version]
    return "\n".join(["[requires]", *lines]) if lines else ""


def _pin(name: str, version: object) -> str:
    key = name if _BARE_KEY.fullmatch(name) else json.dumps(name)
    return f"{key} = {json.dumps(f'=={version}')}"
