"""Which samples are the worst to look at: bad ones, and not the same scene again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

PER_SEQUENCE = 2
"""Neighbouring frames fail alike: more of one sequence show nothing new."""


@dataclass(frozen=True)
class Candidate:
    """One sample or sequence with its value of the primary output."""

    id: str
    sequence: str
    value: float


def choose_worst(
    candidates: Iterable[Candidate], limit: int, *, lower_is_better: bool
) -> tuple[Candidate, ...]:
    """At most `limit`, the worst first: the worst of each sequence before the second of any.

    Choosing among those that were chosen from parts gives the same as choosing from all.
    """
    sign = -1.0 if lower_is_better else 1.0
    ordered = sorted(candidates, key=lambda one: (sign * one.value, one.id))
    seen: Counter[str] = Counter()
    ranked = []
    for place, candidate in enumerate(ordered):
        if seen[candidate.sequence] < PER_SEQUENCE:
            ranked.append((seen[candidate.sequence], place, candidate))
        seen[candidate.sequence] += 1
    ranked.sort(key=lambda entry: entry[:2])
    chosen = sorted(ranked[:limit], key=lambda entry: entry[1])
    return tuple(candidate for _, _, candidate in chosen)
