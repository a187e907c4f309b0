"""What comes in as a number: whether it is one, and whether it can be meant.

A coordinate of 1e308 is no place. Its differences and squares overflow deep inside a metric,
where nothing can name the sample any more; so loaders and validators ask here first.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Magnitude:
    """The largest absolute value that is believed, and its unit."""

    limit: float
    unit: str


METRES = Magnitude(1e8, "m")
"""Places and depths. Positions on a map, or from the centre of the earth, have millions."""
PIXELS = Magnitude(1e7, "px")
"""Coordinates in images: a hundred times the side of the largest that is read."""


def is_finite_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that fits a float; true and false are none."""
    # The comparison is exact: an integer beyond every float does not overflow here.
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def find_absurd(values: ArrayLike, magnitude: Magnitude) -> str | None:
    """What is wrong with the first value that is finite and beyond the magnitude, if any is.

    NaN and infinity are left to the caller, who may have a use for them.
    """
    array = np.asarray(values)
    with np.errstate(invalid="ignore"):
        absurd = (array > magnitude.limit) | (array < -magnitude.limit)
    # Mostly there is none, and images are large: only then is more looked at.
    if not absurd.any():
        return None
    found = array[absurd & np.isfinite(array)]
    if not found.size:
        return None
    return f"holds {found[0]:g}, which is beyond {magnitude.limit:g} {magnitude.unit}"
