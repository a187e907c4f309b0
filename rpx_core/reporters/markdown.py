"""A summary for a pull request comment: `summary.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rpx_core.contracts import Phase
from rpx_core.report import FailedSample, Number, Readiness, Report, Results, Slice
from rpx_core.reporters.beside import line_up
from rpx_core.reporters.counts import count_pages
from rpx_core.reporters.efficiency import describe_hardware, list_facts
from rpx_core.reporters.formatting import (
    ARROWS,
    CHANGES,
    DIRECTIONS,
    format_count,
    format_interval,
    format_share,
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
    is_primary,
    pins,
    primary_number,
    where_it_ran,
    why_no_score,
)
from rpx_core.reporters.markdown_text import (
    code,
    escape,
    fence,
    join_blocks,
    prose,
    remainder,
    section,
    show_unit,
    show_value,
    table,
)
from rpx_core.reporters.pareto import COSTS

# A comment holds 65,536 characters: every list is cut.
FAILURES_SHOWN = 10
SLICES_SHOWN = 30
WARNINGS_SHOWN = 20
ROWS_SHOWN = 80
COUNTS_SHOWN = 12
RUNS_SHOWN = 10


def render(results: Results) -> Mapping[str, bytes]:
    """`summary.md`: GitHub-flavoured Markdown, at most a few pages whatever the data."""
    report = results.report
    text = join_blocks(
        _opening(report),
        _warnings_section(report.warnings),
        _numbers_section(report),
        _readiness_section(report.readiness),
        _counts_section(report),
        _efficiency_section(report),
        _others_section(report, results.others),
        _slices_section(report.slices, report),
        _failures_section(report.failures),
        _pins_section(report),
    )
    return {"summary.md": f"{text}\n".encode()}


def _opening(report: Report) -> str:
    run = report.run
    facts = [f"task {code(run.task)}", f"run {code(run.identity[:8])}"]
    if run.alignment:
        facts.append(f"aligned: {escape(run.alignment)}")
    if run.protocol:
        facts.insert(1, f"protocol {code(run.protocol)}")
    places = where_it_ran(report.writers)
    if places:
        facts.append(f"on {escape(shorten('; '.join(places), 200))}")
    status = escape(shorten(describe_status(report.status), 400))
    return join_blocks(
        f"## {code(run.model)} on {code(run.data)}",
        f"**{status}**",
        _primary_line(report),
        " · ".join(facts),
    )


def _primary_line(report: Report) -> str:
    number = primary_number(report)
    if number is None:
        return f"{code(report.primary)}: not in this report"
    value = show_value(number.value, number.reason)
    unit = f" {prose(number.unit)}" if number.unit else ""
    line = (
        f"**{code(f'{number.label}.{number.output}')} = {value}{unit}** "
        f"({_aggregate(number)}, {DIRECTIONS[number.better]}, "
        f"n = {format_count(number.n)})"
    )
    coverage = coverage_of(number, report)
    return f"{line}, coverage {show_value(coverage.value, coverage.reason)}" if coverage else line


def _numbers_section(report: Report) -> str:
    numbers = headline_numbers(report)
    rows = [
        [
            code(number.label),
            code(number.output),
            show_value(number.value, number.reason),
            format_interval(number.interval) if number.interval else "-",
            show_unit(number.unit),
            ARROWS[number.better],
            format_count(number.n),
            format_count(number.undefined),
            format_count(number.failed),
            _aggregate(number),
        ]
        for number in numbers[:ROWS_SHOWN]
    ]
    header = ["label", "output", "value", "interval", "unit", "better"]
    header += ["n", "undefined", "failed", "aggregate"]
    reasons = [f"No interval: {prose(reason)}." for reason in interval_reasons(numbers)]
    infinite = [
        f"{code(number.output)}: {format_count(number.infinite)} infinitely good, in no mean."
        for number in numbers
        if number.infinite
    ]
    return join_blocks(
        "### Numbers",
        table(header, rows, right={2, 3, 6, 7, 8}),
        remainder(len(numbers), ROWS_SHOWN),
        "\n".join([*reasons, *infinite]),
    )


def _readiness_section(readiness: Readiness) -> str:
    lines = arrange(readiness)
    if not lines and not readiness.scores:
        return ""
    missing = why_no_score(readiness)
    if readiness.scores and missing:
        return join_blocks(
            f"### Readiness ({readiness.rules})",
            f"None can be said of this data: {prose('; '.join(missing))}.",
        )
    unit = f" in {prose(readiness.unit)}" if readiness.unit else ""
    cells = [
        [line.difficulty.value, *(escape(square.text) for square in line.squares)] for line in lines
    ]
    scores = [
        [
            escape(score.title),
            show_value(score.value, score.reason),
            format_interval(score.interval) if score.interval else "-",
            show_unit(score.unit),
            ARROWS[score.better],
            format_share(score.coverage),
            CHANGES[score.change],
        ]
        for score in readiness.scores
    ]
    header = ["score", "value", "interval", "unit", "better", "coverage", "change"]
    return join_blocks(
        f"### Readiness ({readiness.rules})",
        f"{code(readiness.address)}{unit}, {DIRECTIONS[readiness.better]}.",
        table(["difficulty", *Phase], cells, right={1, 2, 3}),
        table(header, scores, right={1, 2, 5}),
    )


def _counts_section(report: Report) -> str:
    return join_blocks(
        *(
            join_blocks(
                f"### {prose(page.table.caption)}",
                f"{code(f'{page.number.label}.{page.number.output}')}: rows are "
                f"{prose(page.table.row_axis)}, columns {prose(page.table.column_axis)}.",
                table(
                    ["", *map(code, page.columns)],
                    [[code(name), *(cell.text for cell in row)] for name, row in page.rows],
                    right=range(1, COUNTS_SHOWN + 1),
                ),
                f"The fullest of {format_count(len(page.table.rows))} rows." if page.is_cut else "",
            )
            for page in count_pages(report, COUNTS_SHOWN)
        )
    )


def _slices_section(slices: Sequence[Slice], report: Report) -> str:
    rows = []
    for part in slices[:SLICES_SHOWN]:
        number = next((n for n in part.numbers if is_primary(n, report)), None)
        value = show_value(number.value, number.reason) if number else "-"
        rows.append([code(part.key), code(part.value), format_count(part.samples), value])
    header = ["key", "value", "samples", code(report.primary)]
    return section(
        "### Slices", table(header, rows, right={2, 3}), remainder(len(slices), SLICES_SHOWN)
    )


def _failures_section(failures: Sequence[FailedSample]) -> str:
    rows = [
        [
            code(failed.id),
            failed.failure.stage,
            code(failed.failure.error),
            prose(failed.failure.text),
        ]
        for failed in failures[:FAILURES_SHOWN]
    ]
    return section(
        f"### Failures ({format_count(len(failures))})",
        table(["sample", "stage", "error", "message"], rows, right=set()),
        remainder(len(failures), FAILURES_SHOWN),
    )


def _warnings_section(warnings: Sequence[str]) -> str:
    lines = [f"- {prose(warning)}" for warning in warnings[:WARNINGS_SHOWN]]
    return section("### Warnings", "\n".join(lines), remainder(len(warnings), WARNINGS_SHOWN))


def _efficiency_section(report: Report) -> str:
    profile = report.efficiency
    if profile is None:
        return ""
    rows = [
        [fact.name, escape(shorten(fact.text, 160)), escape(fact.note) or "-"]
        for fact in list_facts(profile)
    ]
    notes = [f"- {prose(note)}" for note in profile.notes]
    return join_blocks(
        "### Efficiency",
        prose(describe_hardware(profile.hardware)),
        table(["cost", "amount", "how"], rows, right={1}),
        "\n".join(notes),
    )


def _others_section(report: Report, others: Sequence[Report]) -> str:
    comparison = line_up(report, others[:RUNS_SHOWN])
    header = ["model", "run", "number", "value", "samples"]
    if comparison.has_costs:
        header += [cost.name for cost in COSTS.values()] + ["unbeaten in"]
    rows = []
    for line in comparison.lines:
        row = [code(line.model), code(line.run), code(line.address), escape(line.value)]
        row.append(line.samples)
        if comparison.has_costs:
            row += [*line.costs, ", ".join(line.best) or "-"]
        rows.append(row)
    units = [f"{cost.name}: {cost.unit}" for cost in COSTS.values() if cost.unit]
    return section(
        "### Beside other runs",
        table(header, rows, right={3, 5, 6, 7}),
        remainder(len(others), RUNS_SHOWN),
        f"{'; '.join(units)}." if comparison.has_costs else "",
        "\n".join(f"- {escape(shorten(gap, 400))}" for gap in comparison.gaps),
    )


def _pins_section(report: Report) -> str:
    text = pins(report.run)
    return f"### Versions to pin\n\n{fence(reveal(text))}" if text else ""


def _aggregate(number: Number) -> str:
    return escape(shorten(name_aggregate(number), 40))
