"""States of the tracking metrics: their fields, and how classes are kept apart in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from math import fsum
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.state import Combine

Count = Annotated[int | np.integer[Any], Combine.SUM]
Total = Annotated[float | np.floating[Any], Combine.SUM]
Counts = Annotated[NDArray[np.integer[Any]], Combine.SUM]
Totals = Annotated[NDArray[np.float64], Combine.SUM]

S = TypeVar("S")


def stack_classes(parts: Sequence[S]) -> S:
    """One state whose fields have the classes along their first axis."""
    kind = type(parts[0])
    return kind(*(np.stack([getattr(part, f.name) for part in parts]) for f in _fields(kind)))


def split_classes(state: S) -> Iterator[S]:
    """The states of the classes, as they were stacked."""
    kind = type(state)
    columns = [np.asarray(getattr(state, field.name)) for field in _fields(kind)]
    for values in zip(*columns, strict=True):
        yield kind(*values)


def average_classes(
    scores: Sequence[Mapping[str, float | None]], counted: frozenset[str]
) -> dict[str, float | None]:
    """Scores averaged over the classes where they are defined; those that are counts are added."""
    merged: dict[str, float | None] = {}
    for name in scores[0]:
        values = [value for part in scores if (value := part[name]) is not None]
        total = fsum(values) if values else None
        merged[name] = total if total is None or name in counted else total / len(values)
    return merged


def _fields(kind: Any) -> Any:
    return fields(kind)
