"""Quantiles of pixel errors from a fixed histogram, with a stated error.

A run cannot keep every pixel; a histogram of fixed size adds up over images, and its quantiles are
off by at most a known amount.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ConfigError, MetricError

Counts = NDArray[np.int64]

_SUBDIVISION_BITS = 6
_MANTISSA_BITS = 52
_EXPONENT_BIAS = 1023


@dataclass(frozen=True)
class ErrorBins:
    """Bins between two powers of two: 64 equal ones per doubling, plus one below and one above.

    Edges are 2^e·(1 + k/64), which are the leading bits of a float64: binning is a shift, exact and
    the same on every machine. The default spans 2^-13 (1.2e-4) to 2^5 (32) in 1154 counts.
    """

    low_exponent: int = -13
    high_exponent: int = 5

    def __post_init__(self) -> None:
        if not -1000 <= self.low_exponent < self.high_exponent <= 1000:
            raise ConfigError(
                f"error bins from 2^{self.low_exponent} to 2^{self.high_exponent} are empty or "
                "outside float64; an increasing pair of exponents expected"
            )

    @property
    def low(self) -> float:
        """Errors below this are taken as 0: the absolute error of a small quantile."""
        return 2.0**self.low_exponent

    @property
    def high(self) -> float:
        """Errors from here on are only counted; a quantile among them is unknown."""
        return 2.0**self.high_exponent

    @property
    def size(self) -> int:
        """Number of counts: the bins, one below and one above."""
        return ((self.high_exponent - self.low_exponent) << _SUBDIVISION_BITS) + 2

    @property
    def relative_error(self) -> float:
        """The largest relative error of a quantile between `low` and `high`: 1/128."""
        return 0.5 / (1 << _SUBDIVISION_BITS)


def count_errors(errors: NDArray[np.float64], bins: ErrorBins) -> Counts:
    """Counts of non-negative errors, adding up over images; MetricError for NaN or negatives."""
    values = np.ascontiguousarray(errors, dtype=np.float64).reshape(-1)
    if not np.all(values >= 0):
        raise MetricError("pixel errors contain NaN or negative values; take their size first")
    index = values.view(np.int64) >> (_MANTISSA_BITS - _SUBDIVISION_BITS)
    index -= ((bins.low_exponent + _EXPONENT_BIAS) << _SUBDIVISION_BITS) - 1
    np.clip(index, 0, bins.size - 1, out=index)
    return np.bincount(index, minlength=bins.size).astype(np.int64)


def quantile(counts: Counts, q: float, bins: ErrorBins) -> float | None:
    """The q-quantile, linear between order statistics as numpy has it, from counts.

    Off by at most `bins.relative_error` of the exact value, plus `bins.low` where an error below
    `bins.low` takes part. None without errors, and None when it reaches `bins.high`.
    """
    if not 0 <= q <= 1:
        raise ConfigError(f"quantile {q} is outside 0 to 1")
    if counts.shape != (bins.size,):
        raise MetricError(f"{counts.shape} counts for {bins.size} error bins")
    cumulative = np.cumsum(counts)
    total = int(cumulative[-1])
    if total == 0:
        return None
    position = q * (total - 1)
    lower, upper = math.floor(position), math.ceil(position)
    below, above = np.searchsorted(cumulative, [lower, upper], side="right")
    if above == bins.size - 1:
        return None
    low, high = _centre(int(below), bins), _centre(int(above), bins)
    return low + (high - low) * (position - lower)


def _centre(index: int, bins: ErrorBins) -> float:
    if index == 0:
        return 0.0
    octave, step = divmod(index - 1, 1 << _SUBDIVISION_BITS)
    return math.ldexp(1 + (step + 0.5) / (1 << _SUBDIVISION_BITS), bins.low_exponent + octave)
