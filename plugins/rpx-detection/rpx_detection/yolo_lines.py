"""Lines of YOLO text files: a class index, then fractions of the image."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rpx_core.errors import ManifestError
from rpx_core.files import quote


def parse_lines(
    text: str, names: Sequence[str], *, source: str, hint: str
) -> list[tuple[str, int, list[float]]]:
    """Where each line stands, its class index, and the numbers that `names` call, all finite.

    Raises ManifestError naming the line; `hint` is for another count of numbers.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words, where = line.split(), f"{source}, line {number}"
        if not words:
            continue
        if not words[0].isdecimal():
            raise ManifestError(
                f"{where}: the class is {quote(words[0])}; a whole number from 0 was expected"
            )
        if len(words) != len(names) + 1:
            raise ManifestError(
                f"{where}: {len(words)} numbers; class, {', '.join(names)} were expected", hint=hint
            )
        found.append((where, int(words[0]), [_parse(word, where) for word in words[1:]]))
    return found


def _parse(word: str, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ManifestError(f"{where}: {quote(word)} is no finite number")
    return value
