"""How to read the colours of a picture: a scale, named colours, or both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

MAX_ENTRIES = 16
_HEX = re.compile(r"#[0-9a-f]{6}")


@dataclass(frozen=True)
class Legend:
    """What stands under a picture.

    `scale` goes from the first of `labels` to the last, which are evenly spaced along it. `keys`
    are single colours with what they mean.
    """

    scale: tuple[Colour, ...] = ()
    labels: tuple[str, ...] = ()
    keys: tuple[tuple[str, Colour], ...] = ()

    def to_document(self) -> dict[str, Any]:
        """The legend as JSON holds it, colours as `#rrggbb`."""
        return {
            "scale": [to_hex(colour) for colour in self.scale],
            "labels": list(self.labels),
            "keys": [[text, to_hex(colour)] for text, colour in self.keys],
        }


def to_hex(colour: Colour) -> str:
    """A colour as pages write it."""
    red, green, blue = colour
    return f"#{red:02x}{green:02x}{blue:02x}"


def from_hex(text: str) -> Colour:
    """A colour from `rrggbb`, with or without `#` before it."""
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
    return red, green, blue


def read_legend(document: object) -> Legend | None:
    """The legend of a document; None where there is none, or it is not one."""
    if not isinstance(document, Mapping):
        return None
    try:
        scale = tuple(_read_colour(text) for text in document["scale"][:MAX_ENTRIES])
        labels = tuple(str(text) for text in document["labels"][:MAX_ENTRIES])
        keys = tuple((str(text), _read_colour(c)) for text, c in document["keys"][:MAX_ENTRIES])
    except (KeyError, TypeError, ValueError):
        return None
    return Legend(scale, labels, keys)


def _read_colour(text: object) -> Colour:
    if not (isinstance(text, str) and _HEX.fullmatch(text)):
        raise ValueError(f"{text!r} is no colour")
    return from_hex(text)
