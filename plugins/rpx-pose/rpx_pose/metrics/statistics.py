"""The statistics that trajectory errors are published by."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Output, Undefined

_SUMMARIES = {
    "rmse": "root of the mean square of {what}",
    "mean": "mean of {what}",
    "median": "median of {what}",
    "std": "standard deviation of {what}",
    "min": "smallest {what}",
    "max": "largest {what}",
}


def statistics_outputs(prefix: str, unit: str, suffix: str, what: str) -> dict[str, Output]:
    """An output `<prefix><statistic><suffix>` for each statistic."""
    return {
        f"{prefix}{name}{suffix}": Output(
            better="lower", unit=unit, best=0.0, summary=summary.format(what=what)
        )
        for name, summary in _SUMMARIES.items()
    }


def statistics_of(
    errors: NDArray[np.float64], prefix: str, suffix: str, *, without: Undefined | None = None
) -> Mapping[str, float | Undefined | None]:
    """The statistics of errors (n,), `without` any what is given; in any order the same bits."""
    if not errors.size:
        return {f"{prefix}{name}{suffix}": without for name in _SUMMARIES}
    values = np.sort(errors)
    found = (
        float(np.sqrt(np.mean(values * values))),
        float(values.mean()),
        float(np.median(values)),
        float(values.std()),
        float(values[0]),
        float(values[-1]),
    )
    return {f"{prefix}{name}{suffix}": value for name, value in zip(_SUMMARIES, found, strict=True)}
