"""Class names as text: what is allowed, and when two of them are the same class."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal

from rpx_core.errors import kind_of

LabelRule = Literal["exact", "casefold"]

LONGEST = 200


def normalise(label: str, rule: LabelRule) -> str:
    """The form by which a label is compared; never a part of it, never something similar.

    `exact` changes nothing. `casefold` ignores case, outer blanks and the width of inner ones,
    after Unicode's compatibility composition (NFKC): "Coffee  Mug " is "coffee mug".
    """
    if rule == "exact":
        return label
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


def find_fault(labels: Sequence[object]) -> str | None:
    """What is wrong with the first label that cannot name a class, or None."""
    for label in labels:
        if not isinstance(label, str):
            return f"label {label!r:.80} is {kind_of(label)}; text was expected"
        if not label.strip():
            return f"label {label!r} is empty; the name of a class was expected"
        if len(label) > LONGEST or not label.isprintable():
            return f"label {label[:80]!r} is not printable text of at most {LONGEST} characters"
    return None
