"""How numbers and foreign text are printed: one place, so that every report prints the same."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from rpx_core.contracts import Better, Unit
from rpx_core.report import Number, RunRecord

ARROWS: Mapping[Better | None, str] = {"higher": "↑", "lower": "↓", None: "–"}
DIRECTIONS: Mapping[Better | None, str] = {
    "higher": "higher is better",
    "lower": "lower is better",
    None: "neither direction is better",
}
AGGREGATES: Mapping[str, str] = {
    "sample": "mean of {evidence}",
    "pooled": "pooled",
    "sample_median": "median of {evidence}",
    "group": "mean of scenes",
}
EVIDENCE: Mapping[Unit, str] = {
    Unit.SAMPLE: "samples",
    Unit.PAIR: "pairs",
    Unit.SEQUENCE: "sequences",
    Unit.STACK: "samples",
}
CHANGES: Mapping[str | None, str] = {
    "better": "▲ better",
    "worse": "▼ worse",
    "equal": "= equal",
    None: "–",
}

_DIGITS = 4
_PREFIXES = ("", "k", "M", "G", "T", "P")
# Controls, and the characters that reorder or hide the text around them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def format_number(value: float) -> str:
    """Four significant digits; an exact integer has no decimal point.

    So a perfect score reads `1` and one that only rounds to it `1.000`.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that a report can hold")
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    mantissa, exponent = f"{value:.{_DIGITS - 1}e}".split("e")
    power = int(exponent)
    if not -4 <= power < 6:
        return f"{mantissa}e{exponent}"
    return f"{value:.{max(0, _DIGITS - 1 - power)}f}"


def format_scaled(value: float, unit: str) -> str:
    """An amount with the prefix that brings it below a thousand: `24.56 M`, `88.47 GB`."""
    steps = min(max(0, int(math.log10(value) / 3)), len(_PREFIXES) - 1) if value >= 1 else 0
    amount = format_number(value / 1000**steps)
    return f"{amount} {_PREFIXES[steps]}{unit}".rstrip()


def format_value(value: float | None, reason: str | None) -> str:
    """The number, or `n/a` with the reason why there is none."""
    if value is None:
        return f"n/a ({reason or 'undefined'})"
    return format_number(value)


def format_plain(value: float | None) -> str:
    """The number, or `n/a` where there is no finite one, whatever the reason."""
    return "n/a" if value is None or not math.isfinite(value) else format_number(value)


def name_run(run: RunRecord) -> str:
    """A run among others: its model, and what tells apart those of one model."""
    return f"{run.model} ({run.identity[:8]})"


def format_interval(interval: tuple[float, float]) -> str:
    """Both ends of an interval."""
    low, high = interval
    return f"{format_number(low)} to {format_number(high)}"


def format_count(count: int) -> str:
    """A count with its thousands marked."""
    return f"{count:,}"


def format_share(share: float) -> str:
    """A fraction as a percentage that says 0 % or 100 % only of exactly none or all."""
    if share in {0.0, 1.0}:
        return f"{share:.0%}".replace("%", " %")
    if 0 < share < 1:
        share = min(max(share, 0.001), 0.999)
    return f"{share:.1%}".replace("%", " %")


def name_aggregate(number: Number) -> str:
    """A number's aggregate in words, over what it is taken; the name itself when it has none."""
    words = AGGREGATES.get(number.aggregate)
    return number.aggregate if words is None else words.format(evidence=EVIDENCE[number.evidence])


def reveal(text: str) -> str:
    """The text with control, direction-changing and invisible characters written as escapes."""
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shorten(text: str, limit: int = 80) -> str:
    """The text on one line, its middle replaced by an ellipsis where it is longer than `limit`."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    # Ids differ at their end as often as at their start.
    tail = limit // 3
    return f"{line[: limit - tail - 1]}…{line[-tail:]}"
