"""Simple phrases about table-top things: "red mug", "the leftmost ball", "all blue objects"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rpx_detection.models.shapes import SHAPES
from rpx_detection.models.strong_colours import COLOURS

Place = Literal["left", "right", "near"]

_ANYTHING = frozenset({"object", "thing", "item"})
_PLACES: Mapping[str, Place] = {
    "left": "left",
    "leftmost": "left",
    "right": "right",
    "rightmost": "right",
    "closest": "near",
    "nearest": "near",
}


@dataclass(frozen=True)
class Phrase:
    """What a phrase asks for; None where it does not say."""

    colour: str | None = None
    shape: str | None = None
    place: Place | None = None


def parse_phrase(text: str) -> Phrase | None:
    """The colour, shape and place that a phrase names, or None when it names no known thing."""
    words = re.findall(r"[a-z]+", text.casefold())
    colour = next((word for word in words if word in COLOURS), None)
    place = next((_PLACES[word] for word in words if word in _PLACES), None)
    nouns = [noun for word in words for noun in (word, word.removesuffix("s"), word[:-2])]
    shape = next((noun for noun in nouns if noun in SHAPES), None)
    if shape is None and not _ANYTHING & set(nouns):
        return None
    return Phrase(colour, shape, place)
