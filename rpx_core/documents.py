"""Text, JSON, JSON lines and TOML: strict in what they accept, clear about what they refuse.

Text is UTF-8; a byte order mark and CRLF line ends are accepted, never written. Numbers are
finite, keys unique, nesting and size limited. The caller names the source and the error class:
`ConfigError` for what a user configures, `ManifestError` for data.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

from rpx_core.atomic import write_atomic
from rpx_core.errors import ConfigError, ManifestError, RPXError
from rpx_core.files import MEBIBYTE, open_file, read_file

TEXT_LIMIT = 256 * MEBIBYTE
JSON_LIMIT = 256 * MEBIBYTE
JSON_LINE_LIMIT = 16 * MEBIBYTE
TOML_LIMIT = 1 * MEBIBYTE
MAX_DEPTH = 100

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# tomllib needs memory quadratic in the parts of a dotted key: 300 kB of "a.a.a..." take it all.
_ENDLESS_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|'[^'\n]*+'|"(?:[^"\\\n]|\\.)*+")[ \t]*+\.[ \t]*+){40}"""
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_text(
    document: Path | bytes,
    *,
    source: str | None = None,
    error: type[RPXError] = ManifestError,
    limit: int = TEXT_LIMIT,
) -> str:
    """The text of one document; `source` names it in errors, by default its path."""
    return _read_text(document, _Origin(_name(document, source), error), limit)


def read_json(
    document: Path | bytes,
    *,
    source: str | None = None,
    error: type[RPXError] = ManifestError,
    limit: int = JSON_LIMIT,
) -> object:
    """The value of one JSON document; `source` names it in errors, by default its path."""
    origin = _Origin(_name(document, source), error)
    return _parse_json(_read_text(document, origin, limit), origin)


def read_json_lines(
    document: Path | bytes,
    *,
    source: str | None = None,
    error: type[RPXError] = ManifestError,
) -> Iterator[tuple[int, object]]:
    """Each non-blank line's byte offset and value, read as they are asked for."""
    origin = _Origin(_name(document, source), error)
    offset = 0
    with _open(document, origin) as stream:
        for number in itertools.count(1):
            here = _Origin(f"{origin.name}, line {number}", error)
            line = _read_line(stream, here)
            if not line:
                return
            text = _decode(line, here, first=number == 1)
            if text.strip():
                yield offset, _parse_json(text, here)
            offset += len(line)


def read_toml(
    document: Path | bytes, *, source: str | None = None, error: type[RPXError] = ConfigError
) -> dict[str, object]:
    """The table of one TOML document; `source` names it in errors, by default its path."""
    origin = _Origin(_name(document, source), error)
    text = _read_text(document, origin, TOML_LIMIT)
    if _ENDLESS_KEY.search(text):
        raise origin.fail("has a dotted key of more than 40 parts")
    try:
        table = tomllib.loads(text, parse_float=_parse_float)
    except RecursionError as problem:
        raise origin.too_deep() from problem
    except tomllib.TOMLDecodeError as problem:
        raise origin.fail(f"is not TOML: {problem}") from problem
    except ValueError as problem:
        raise origin.fail(str(problem)) from problem
    _refuse_deep(table, origin)
    return table


def to_json(value: object) -> bytes:
    """The canonical form, equal for equal values: sorted keys, no spaces, pure ASCII.

    Numpy scalars count as the numbers they hold. Raises `RPXError` for what JSON cannot say, as
    NaN or infinity: pass such numbers through `finite_or_none`.
    """
    return _encode(value, _CANONICAL)


def to_pretty_json(value: object) -> bytes:
    """The form for people: indented UTF-8 in the order given, ending with a newline."""
    return _encode(value, _PRETTY) + b"\n"


def write_json(path: Path, value: object) -> None:
    """Write the form for people, whole or not at all."""
    write_atomic(path, to_pretty_json(value))


def finite_or_none(value: float | None) -> float | None:
    """The number, or None where it is NaN, infinite or None."""
    return float(value) if value is not None and math.isfinite(value) else None


@dataclass(frozen=True)
class _Origin:
    name: str
    error: type[RPXError]

    def fail(self, problem: str, hint: str | None = None) -> RPXError:
        return self.error(f"{self.name}: {problem}", hint=hint)

    def too_deep(self) -> RPXError:
        return self.fail(f"is nested too deeply; at most {MAX_DEPTH} levels are read")


class _RefusedError(ValueError):
    """Well-formed, but not acceptable."""


def _name(document: Path | bytes, source: str | None) -> str:
    if source is not None:
        return source
    return str(document) if isinstance(document, Path) else "the document"


def _open(document: Path | bytes, origin: _Origin) -> BinaryIO:
    if isinstance(document, bytes):
        return io.BytesIO(document)
    return open_file(document, source=origin.name, error=origin.error)


def _read_text(document: Path | bytes, origin: _Origin, limit: int) -> str:
    if isinstance(document, Path):
        content = read_file(document, source=origin.name, limit=limit, error=origin.error)
    elif len(document) > limit:
        raise origin.fail(
            f"has {len(document) / MEBIBYTE:,.1f} MiB; at most {limit / MEBIBYTE:,.1f} are read"
        )
    else:
        content = document
    return _decode(content, origin, first=True)


def _read_line(stream: BinaryIO, origin: _Origin) -> bytes:
    try:
        line = stream.readline(JSON_LINE_LIMIT + 1)
    except OSError as problem:
        raise origin.fail(f"cannot be read: {problem.strerror or problem}") from problem
    if len(line) > JSON_LINE_LIMIT:
        raise origin.fail(f"has more than {JSON_LINE_LIMIT // MEBIBYTE} MiB")
    return line


def _decode(content: bytes, origin: _Origin, *, first: bool) -> str:
    marked = first and content.startswith(_BYTE_ORDER_MARK)
    try:
        # The mark is cut off afterwards, so that offsets count it.
        return content.decode("utf-8")[marked:]
    except UnicodeDecodeError as problem:
        kind = "UTF-16" if content.startswith(_UTF16_MARKS) else "another encoding"
        raise origin.fail(
            f"is not UTF-8: byte 0x{content[problem.start]:02x} at offset {problem.start}",
            hint=f"it looks like {kind}; save it as UTF-8",
        ) from problem


def _parse_json(text: str, origin: _Origin) -> object:
    try:
        value = _DECODER.decode(text)
    except RecursionError as problem:
        raise origin.too_deep() from problem
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise origin.fail(f"is not JSON: {problem.msg} at {where}") from problem
    except ValueError as problem:
        raise origin.fail(str(problem)) from problem
    _refuse_deep(value, origin)
    if "\\ud" in text or "\\uD" in text:
        _refuse_surrogates(value, origin)
    return value


def _unique_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _RefusedError(f"the key {twice!r} occurs twice in one object")
    return table


def _refuse_constant(literal: str) -> NoReturn:
    raise _RefusedError(f"holds {literal}; numbers must be finite, null stands for undefined")


def _parse_float(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise _RefusedError(f"holds {literal[:40]}; numbers must be finite")
    return value


def _parse_int(literal: str) -> int:
    if len(literal) > 20:
        raise _RefusedError(f"holds an integer of {len(literal)} digits; at most 20 are read")
    return int(literal)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_object,
    parse_constant=_refuse_constant,
    parse_float=_parse_float,
    parse_int=_parse_int,
)


def _refuse_deep(value: object, origin: _Origin) -> None:
    # Level by level: whoever walks the value later must not run out of stack.
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return
        level = [
            item
            for parent in level
            for item in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(item, (dict, list))
        ]
    if level:
        raise origin.too_deep()


def _refuse_surrogates(value: object, origin: _Origin) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as problem:
        surrogate = ascii(problem.object[problem.start])
        raise origin.fail(f"holds the unpaired surrogate {surrogate}, not a character") from problem


def _encode(value: object, encoder: json.JSONEncoder) -> bytes:
    try:
        text = encoder.encode(value)
    except (ValueError, TypeError, RecursionError) as problem:
        raise RPXError(
            f"a value cannot be written as JSON: {problem}",
            hint="undefined numbers are null: pass them through finite_or_none",
        ) from problem
    # In a JSON string, a surrogate's backslash form is its escape.
    return text.encode("utf-8", "backslashreplace")


def _plain(value: object) -> object:
    import numpy as np

    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_CANONICAL = json.JSONEncoder(
    allow_nan=False, default=_plain, sort_keys=True, separators=(",", ":")
)
_PRETTY = json.JSONEncoder(allow_nan=False, default=_plain, ensure_ascii=False, indent=2)
