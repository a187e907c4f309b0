"""The outputs of the standard depth errors, over pixels of a map or over points."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rpx_core.contracts import Output, ResultMap, Undefined
from rpx_core.outputs import share
from rpx_depth.pixel_errors import DepthSums, standard_set

NO_ANSWER = Undefined("nothing with a true depth is answered")
PLAUSIBLE_RATIO = (0.1, 10.0)
"""Between millimetres and metres lies a factor 1000, between 1/1000 and 1/256 of a unit 3.9."""


def standard_outputs(places: str) -> dict[str, Output]:
    """What `standard_values` gives, described; `places` says what is averaged over."""
    return {
        "absrel": _error("mean of |p - g| / g"),
        "sqrel": _error("mean of (p - g)² / g", "m"),
        "mae": _error("mean of |p - g|", "m"),
        "rmse": _error("root of the mean of (p - g)²", "m"),
        "rmse_log": _error("root of the mean of (ln p - ln g)²"),
        "log10": _error("mean of |log10 p - log10 g|"),
        "silog": _error("standard deviation of ln p - ln g, a fraction"),
        "silog100": _error("standard deviation of ln p - ln g, in percent", "%"),
        "irmse": _error("root of the mean of (1/p - 1/g)²", "1/m"),
        "delta1": share(f"answered {places} within a factor 1.25", headline="sample"),
        "delta2": share(f"answered {places} within a factor 1.25²", headline="sample"),
        "delta3": share(f"answered {places} within a factor 1.25³", headline="sample"),
        "delta1_of_truth": share(
            f"truth {places} answered within a factor 1.25", headline="sample"
        ),
        "coverage": share(f"truth {places} that are answered", headline="sample"),
        "scale_ratio": Output(
            better=None,
            best=1.0,
            plausible=PLAUSIBLE_RATIO,
            summary="geometric mean of p / g; far from 1 means a wrong unit or scale",
        ),
    }


def standard_values(sums: DepthSums) -> ResultMap:
    """The standard set and the scale ratio exp(mean d), from sums over any number of images."""
    pixels = int(sums.pixels)
    ratio = math.exp(float(sums.log_signed) / pixels) if pixels else None
    return explain({**standard_set(sums), "scale_ratio": ratio}, NO_ANSWER)


def explain(values: Mapping[str, float | None], why: Undefined) -> ResultMap:
    """The values, with one reason for all that are undefined."""
    return {name: why if value is None else value for name, value in values.items()}


def _error(summary: str, unit: str = "") -> Output:
    return Output(better="lower", unit=unit, best=0.0, summary=summary)
