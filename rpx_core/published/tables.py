"""Results as plain text, for `print`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rpx_core.report import Number, Readiness
from rpx_core.reporters.formatting import (
    ARROWS,
    CHANGES,
    format_count,
    format_plain,
    format_share,
    name_aggregate,
    reveal,
    shorten,
)

_LEFT = str.ljust
_RIGHT = str.rjust


def format_result(
    task: str,
    samples: int,
    values: Mapping[str, float | None],
    numbers: Mapping[str, Number],
) -> str:
    """One line per output, with its direction and counts where they are known."""
    title = f"{reveal(task)}: {format_count(samples)} sample{'' if samples == 1 else 's'}"
    if not values:
        return f"{title}, no numbers"
    if not numbers:
        plain = [[reveal(shorten(key)), format_plain(value)] for key, value in values.items()]
        return f"{title}\n\n{_table(['output', 'value'], plain, right={1})}"
    rows = [
        [
            reveal(shorten(key)),
            format_plain(number.value),
            number.unit,
            ARROWS[number.better],
            format_count(number.n),
            format_count(number.undefined + number.failed),
            name_aggregate(number),
            _reason(number.value, number.reason),
        ]
        for key, number in numbers.items()
    ]
    header = ["output", "value", "unit", "better", "n", "undefined", "aggregate", "why not"]
    return f"{title}\n\n{_table(header, rows, right={1, 4, 5})}"


def format_scores(model_name: str, readiness: Readiness) -> str:
    """One line per readiness score."""
    rows = [
        [
            score.title,
            format_plain(score.value),
            score.unit,
            CHANGES[score.change] if score.change else ARROWS[score.better],
            format_share(score.coverage),
            _reason(score.value, score.reason),
        ]
        for score in readiness.scores
    ]
    header = ["score", "value", "unit", "better", "coverage", "why not"]
    title = f"{reveal(shorten(model_name))}: readiness of {readiness.address} ({readiness.rules})"
    return f"{title}\n\n{_table(header, rows, right={1, 4})}"


def format_warnings(warnings: Sequence[str]) -> list[str]:
    """A line for each, after an empty one."""
    lines = [f"warning: {reveal(' '.join(warning.split()))}" for warning in warnings]
    return ["", *lines] if lines else []


def _reason(value: float | None, reason: str | None) -> str:
    return shorten(reason or "undefined", 60) if value is None else ""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: set[int]) -> str:
    """Aligned columns; those without a single entry are left out."""
    kept = [column for column in range(len(header)) if any(row[column] for row in rows)]
    lines = [header, *rows]
    width = {column: max(len(line[column]) for line in lines) for column in kept}
    text = [
        "  ".join(
            (_RIGHT if column in right else _LEFT)(line[column], width[column]) for column in kept
        ).rstrip()
        for line in lines
    ]
    return "\n".join([text[0], "-" * max(map(len, text)), *text[1:]])
