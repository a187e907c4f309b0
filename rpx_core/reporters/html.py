"""One self-contained page: `report.html`, without scripts and without a single request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rpx_core.documents import to_pretty_json
from rpx_core.legends import to_hex
from rpx_core.report import FailedSample, Number, Report, Results, Row, Slice, WorstSample
from rpx_core.reporters.beside import line_up
from rpx_core.reporters.counts import count_pages
from rpx_core.reporters.distribution import spread
from rpx_core.reporters.efficiency import describe_hardware, list_facts
from rpx_core.reporters.formatting import (
    ARROWS,
    CHANGES,
    DIRECTIONS,
    format_count,
    format_interval,
    format_number,
    format_share,
    format_value,
    name_aggregate,
    reveal,
    shorten,
)
from rpx_core.reporters.grid import arrange
from rpx_core.reporters.headline import (
    coverage_of,
    describe_status,
    headline_numbers,
    interval_reasons,
    is_partial,
    is_primary,
    other_numbers,
    pins,
    primary_number,
    why_no_score,
)
from rpx_core.reporters.pareto import COSTS
from rpx_core.reporters.pictures import Embedded, embed

FAILURES_SHOWN = 200
SLICES_SHOWN = 200
WORST_SHOWN = 24
WARNINGS_SHOWN = 100
RUNS_SHOWN = 10
WRITERS_SHOWN = 50
_RECORD_CHARACTERS = 200_000


@dataclass(frozen=True)
class Worst:
    """One of the worst samples with where it was taken and its pictures."""

    sample: WorstSample
    row: Row | None
    values: Mapping[str, str]
    pictures: tuple[Embedded, ...]


def render(results: Results) -> Mapping[str, bytes]:
    """`report.html`; foreign text is escaped everywhere, pictures travel inside the page."""
    page = _environment().get_template("report.html").render(_context(results))
    return {"report.html": page.encode()}


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rpx_core", "reporters/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "aggregate": name_aggregate,
        "count": format_count,
        "hex": to_hex,
        "interval": format_interval,
        "number": format_number,
        "share": format_share,
        "shorten": shorten,
        "value": format_value,
    }
    environment.globals |= {
        "ARROWS": ARROWS,
        "CHANGES": CHANGES,
        "COSTS": COSTS,
        "DIRECTIONS": DIRECTIONS,
    }
    return environment


def _finalize(value: Any) -> Any:
    """Every text on its way into the page, before it is escaped; markup of ours passes."""
    return reveal(value) if type(value) is str else value


def _context(results: Results) -> Mapping[str, Any]:
    report = results.report
    primary = primary_number(report)
    headlines = headline_numbers(report)
    profile = report.efficiency
    others = results.others[:RUNS_SHOWN]
    return {
        "report": report,
        "run": report.run,
        "status": report.status,
        "status_line": describe_status(report.status),
        "partial": is_partial(report.status),
        "primary": primary,
        "coverage": primary and coverage_of(primary, report),
        "headlines": headlines,
        "other_numbers": other_numbers(report),
        "interval_reasons": interval_reasons(report.numbers),
        "score_reasons": interval_reasons(report.readiness.scores),
        "no_score": why_no_score(report.readiness),
        "grid": arrange(report.readiness),
        "count_pages": count_pages(report),
        "distribution": primary and spread(primary, results.rows),
        "worst": _worst(results),
        "slices": report.slices[:SLICES_SHOWN],
        "slice_columns": [(n.label, n.output) for n in headlines],
        "failures": report.failures[:FAILURES_SHOWN],
        "stages": _stages(report.failures),
        "warnings": report.warnings[:WARNINGS_SHOWN],
        "others": _beside(report, others),
        "other_runs": [report, *others],
        "comparison": line_up(report, others),
        "profile": profile,
        "facts": list_facts(profile) if profile else (),
        "hardware": describe_hardware(profile.hardware) if profile else "",
        "inputs": _pretty(report.run.inputs),
        "pins": pins(report.run),
        "writers": report.writers[:WRITERS_SHOWN],
        "is_primary": is_primary,
        "slice_numbers": _slice_numbers,
    }


def _worst(results: Results) -> tuple[Worst, ...]:
    shown = results.report.worst[:WORST_SHOWN]
    ids = {sample.id for sample in shown}
    rows = {row.id: row for row in results.rows if row.unit.is_of_one_sample and row.id in ids}
    return tuple(
        Worst(
            sample,
            row := rows.get(sample.id),
            _worst_values(sample, row, results.report),
            tuple(embed(caption, path, results.run_directory) for caption, path in sample.pictures),
        )
        for sample in shown
    )


def _worst_values(sample: WorstSample, row: Row | None, report: Report) -> Mapping[str, str]:
    label = report.primary.split(".")[0]
    measured = row.metrics.get(label) if row else None
    infinite = measured.infinite if measured else ()
    return {
        name: format_value(value, "infinite" if name in infinite else "undefined")
        for name, value in sample.values.items()
    }


def _stages(failures: Sequence[FailedSample]) -> Sequence[tuple[str, int]]:
    """Stages with how many samples failed there, the most frequent first."""
    return Counter[str](failed.failure.stage for failed in failures).most_common()


def _slice_numbers(part: Slice) -> Mapping[tuple[str, str], Number]:
    return {(number.label, number.output): number for number in part.numbers}


def _beside(
    report: Report, others: Sequence[Report]
) -> Sequence[tuple[Number, Sequence[Number | None]]]:
    """Each headline number with those of the other runs at the same address."""
    if not others:
        return ()
    tables = [{number.address: number for number in run.numbers} for run in others]
    return [
        (number, [table.get(number.address) for table in tables])
        for number in headline_numbers(report)
    ]


def _pretty(inputs: Mapping[str, Any]) -> str:
    text = to_pretty_json(inputs).decode()
    if len(text) <= _RECORD_CHARACTERS:
        return text
    return f"{text[:_RECORD_CHARACTERS]}\n… cut here; result.json has all of it"
