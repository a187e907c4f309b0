"""Outputs that many metrics declare alike, and the names of those that belong to a class."""

from __future__ import annotations

import re
from collections.abc import Collection

from rpx_core.contracts import Aggregate, Better, Output


def share(
    summary: str,
    *,
    headline: Aggregate = "pooled",
    aggregates: tuple[Aggregate, ...] = Output.aggregates,
    attained: bool = True,
) -> Output:
    """A share of what there is, or a mean of shares: 0 to 1, higher is better."""
    return Output(
        better="higher",
        best=1.0,
        worst=0.0,
        headline=headline,
        aggregates=aggregates,
        summary=summary,
        attained=attained,
    )


def count(
    summary: str,
    better: Better | None = None,
    *,
    unit: str = "",
    aggregates: tuple[Aggregate, ...] = ("pooled", "sample"),
) -> Output:
    """How many there are over everything measured; where fewer are better, none is best."""
    return Output(
        better=better,
        unit=unit,
        best=0.0 if better == "lower" else None,
        headline="pooled",
        aggregates=aggregates,
        summary=summary,
    )


def output_name(prefix: str, label: str) -> str:
    """The output of one class: `pq_traffic_light` from "pq" and "Traffic light".

    In lower case, with `_` for all but the letters a to z and digits.
    """
    return f"{prefix}_{re.sub(r'[^a-z0-9]+', '_', label.casefold()).strip('_')}"


def are_distinct(labels: Collection[str]) -> bool:
    """Whether every class has an output name of its own, of a letter or digit at least."""
    names = {output_name("", label) for label in labels}
    return len(names) == len(labels) and "_" not in names
