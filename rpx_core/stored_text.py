"""Text that comes from elsewhere and is stored: made encodable, and cut to what is read back.

What a model says of itself, what an exception says, captions, notes and reasons are of any length
and may hold half characters. Every stored text has its bound here, so a file that is written is
one that can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

MAX_NAME = 200
"""Characters of a short text: a key, a class of errors, a device, a caption."""
MAX_PROSE = 2000
"""Characters of a sentence or a few: a message, a hint, a note, a reason."""
MAX_KEYS = 64
"""Entries of a description."""

_CUT = "…"


def storable(text: str, limit: int = MAX_PROSE) -> str:
    """The text with unpaired surrogates written as escapes, its end cut off beyond `limit`."""
    # Cut first: the text may be far larger than what is kept of it.
    text = text[: limit + 1].encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT


def storable_name(text: str) -> str:
    """The text as a name: one printable line, what cannot be printed written as escapes."""
    # Cut first: the text may be far larger than what is kept of it.
    text = text[: MAX_NAME + 1]
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return storable("".join(shown), MAX_NAME) or "-"


def is_name(text: str) -> bool:
    """Whether `storable_name` would leave the text as it is."""
    return 0 < len(text) <= MAX_NAME and text.isprintable()


def storable_mapping(texts: Mapping[str, str]) -> dict[str, str]:
    """The first entries of a description, keys and values storable; the last says what is cut."""
    room = MAX_KEYS if len(texts) <= MAX_KEYS else MAX_KEYS - 1
    kept = {storable(key, MAX_NAME): storable(value) for key, value in islice(texts.items(), room)}
    if len(texts) > room:
        kept[_CUT] = f"{len(texts) - room} more are not kept"
    return kept
