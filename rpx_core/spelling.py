"""Misspelt names: what was meant."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], *, most: int = 3) -> str | None:
    """`did you mean A or B?` of the names spelt most like a word, best first; None without any."""
    import difflib

    close = difflib.get_close_matches(word.lower(), sorted(known), n=most)
    return f"did you mean {' or '.join(close)}?" if close else None
