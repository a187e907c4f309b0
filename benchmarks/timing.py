"""Ways to compute one thing, timed in turns in one process, with how far their results differ.

Taking turns keeps ratios true while the machine is busy with something else.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Timed(Generic[Result]):
    """The median duration of one way, and what it gave."""

    milliseconds: float
    result: Result


def make_parser(doc: str | None, *, repeat: int) -> argparse.ArgumentParser:
    """A parser of `--repeat`, described by the first line of a docstring."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=repeat, help="timed calls of each")
    return parser


def time_in_turns(
    ways: Mapping[str, Callable[[], Result]], repeat: int, *, warm: bool = False
) -> dict[str, Timed[Result]]:
    """Each way timed `repeat` times; `warm` calls it once more before, to find inputs in cache."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results: dict[str, Result] = {}
    for _ in range(repeat):
        for name, call in ways.items():
            if warm:
                call()
            start = time.perf_counter()
            results[name] = call()
            seconds[name].append(time.perf_counter() - start)
    return {
        name: Timed(1000 * statistics.median(times), results[name])
        for name, times in seconds.items()
    }


def compare(
    timed: Mapping[str, Timed[Result]],
    ours: str,
    differ: Callable[[Result, Result], float],
) -> float:
    """Print a line for each way: its time, how many times ours that is, and how far it differs.

    Returns the largest difference from our result, which `differ` gets second.
    """
    worst = 0.0
    for name, one in timed.items():
        error = differ(one.result, timed[ours].result)
        # Not max(): it would pass over NaN.
        worst = error if not error <= worst else worst
        ratio = one.milliseconds / timed[ours].milliseconds
        print(f"  {name:24} {one.milliseconds:10.2f} ms {ratio:7.1f}x  disagreement {error:.1e}")
    return worst


def require_agreement(worst: float, tolerance: float) -> None:
    """End with an error when results differ by more than is tolerated."""
    if not worst <= tolerance:
        sys.exit(f"the results differ by {worst:.1e}, at most {tolerance} expected")


def largest(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest absolute difference of two equally long lists of numbers."""
    return max(abs(a - b) for a, b in zip(first, second, strict=True))
