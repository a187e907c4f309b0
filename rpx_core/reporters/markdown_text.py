"""Markdown out of foreign text: escaped prose, code spans, tables, and blocks put together."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from rpx_core.reporters.formatting import format_count, format_value, reveal, shorten

_SPECIAL = re.compile(r"[\\`*\[\]<>|#~&!$^{}]|(?<![^\W_])_|_(?![^\W_])|:(?=//)")
_PLAIN = re.compile(r"[\w ./:@+=,-]+")


def escape(text: str) -> str:
    """Foreign prose as Markdown that shows it literally, on one line, and mentions nobody."""
    line = _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", reveal(" ".join(text.split())))
    return line.replace("@", "&#64;<!-- -->")


def code(text: str) -> str:
    """A foreign name as a code span; an unusual one by entities, which no parser trips over."""
    line = reveal(shorten(text))
    if _PLAIN.fullmatch(line) and line == line.strip():
        return f"`{line}`"
    return f"<code>{escape(line)}</code>"


def fence(text: str) -> str:
    """A block of TOML; its fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}toml\n{text}\n{marks}"


def show_unit(unit: str) -> str:
    """A unit for a cell of a table, `-` where there is none."""
    return escape(shorten(unit, 40)) or "-"


def show_value(value: float | None, reason: str | None) -> str:
    """A number, or why there is none."""
    return escape(shorten(format_value(value, reason), 160))


def prose(text: str) -> str:
    """A foreign sentence, escaped and cut."""
    return escape(shorten(text, 240))


def remainder(count: int, shown: int) -> str:
    """How many of a list are not shown; nothing when all are."""
    return f"… and {format_count(count - shown)} more." if count > shown else ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int]) -> str:
    """A pipe table; nothing when there are no rows."""
    if not rows:
        return ""
    rule = ["--:" if column in right else "---" for column in range(len(header))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def section(title: str, *parts: str) -> str:
    """The title and its parts; nothing when all parts are empty."""
    body = join_blocks(*parts)
    return f"{title}\n\n{body}" if body else ""


def join_blocks(*blocks: str) -> str:
    """Blocks with an empty line between them; empty ones leave none."""
    return "\n\n".join(filter(None, blocks))
