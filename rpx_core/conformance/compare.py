"""Comparing what plugins return: arrays, dataclasses and containers, to a stated tolerance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """How far numbers may differ; of whole-number arrays, which share of entries may."""

    relative: float = 0.0
    absolute: float = 0.0
    share: float = 0.0


EXACT = Tolerance()
ROUNDING = Tolerance(relative=1e-9, absolute=1e-9)
BATCHING = Tolerance(relative=1e-3, absolute=1e-4, share=0.002)
"""Batched arithmetic in float32 sums in another order, which may move an argmax at a tie."""


def difference(one: object, other: object, tolerance: Tolerance = EXACT) -> str | None:
    """Where and how two values first differ beyond the tolerance; None where they do not."""
    left, right = dict(_leaves(one, "")), dict(_leaves(other, ""))
    for place in sorted(left.keys() ^ right.keys()):
        return f"{_named(place)} is only in the {'first' if place in left else 'second'}"
    for place, value in left.items():
        problem = _differ(value, right[place], tolerance)
        if problem is not None:
            return f"{_named(place)} {problem}"
    return None


def fingerprint(value: object) -> str:
    """A digest of everything in a value, to see whether something has changed it."""
    digest = hashlib.sha256()
    for place, leaf in _leaves(value, ""):
        digest.update(place.encode())
        if isinstance(leaf, np.ndarray):
            digest.update(f"{leaf.dtype}{leaf.shape}".encode())
            digest.update(leaf.tobytes() if leaf.dtype.kind != "O" else repr(leaf).encode())
        else:
            digest.update(repr(leaf).encode())
    return digest.hexdigest()


def arrays_of(value: object) -> list[np.ndarray[Any, Any]]:
    """Every array in a value."""
    return [leaf for _, leaf in _leaves(value, "") if isinstance(leaf, np.ndarray)]


def _leaves(value: object, place: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key in sorted(value, key=repr):
            yield from _leaves(value[key], f"{place}[{key!r}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from _leaves(getattr(value, part.name), f"{place}.{part.name}")
    elif isinstance(value, AbstractSet):
        yield place, sorted(map(repr, value))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        yield f"{place}.length", len(value)
        for number, part in enumerate(value):
            yield from _leaves(part, f"{place}[{number}]")
    elif hasattr(value, "__dict__") and not isinstance(value, np.ndarray | type):
        for name, part in sorted(vars(value).items()):
            yield from _leaves(part, f"{place}.{name}")
    else:
        yield place, value


def _named(place: str) -> str:
    return place.lstrip(".") or "the value"


def _differ(one: object, other: object, tolerance: Tolerance) -> str | None:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return _arrays_differ(one, other, tolerance)
    if isinstance(one, int | float | np.number) and isinstance(other, int | float | np.number):
        left, right = float(one), float(other)
        same = left == right or (math.isnan(left) and math.isnan(right))
        limits = {"rel_tol": tolerance.relative, "abs_tol": tolerance.absolute}
        return None if same or math.isclose(left, right, **limits) else f"is {one} or {other}"
    if type(one) is not type(other):
        return f"is a {type(one).__name__} or a {type(other).__name__}"
    return None if one == other else f"is {one!r} or {other!r}"


def _arrays_differ(
    one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], tolerance: Tolerance
) -> str | None:
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return f"is {one.dtype}{list(one.shape)} or {other.dtype}{list(other.shape)}"
    if one.dtype.kind not in "fc":
        share = float(np.mean(one != other)) if one.size else 0.0
        return None if share <= tolerance.share else f"differs in {share:.2%} of its entries"
    close = np.isclose(one, other, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True)
    if close.all():
        return None
    worst = float(np.nanmax(np.abs(one[~close] - other[~close]))) if (~close).any() else 0.0
    return f"differs in {int((~close).sum())} of {one.size} entries, by up to {worst:g}"
