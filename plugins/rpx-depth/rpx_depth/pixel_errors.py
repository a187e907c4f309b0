"""Per-pixel depth errors as sufficient statistics: one blocked pass, float64 throughout."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_core.state import Combine

Depth = NDArray[Any]
"""Depths in metres, a map or a list of points, of any integer or floating dtype."""
Mask = NDArray[np.bool_]
Vector = NDArray[np.float64]
Count = Annotated[int, Combine.SUM]
Total = Annotated[float, Combine.SUM]

BLOCK = 8192
"""Pixels per block: all scratch stays in the second-level cache, and OpenBLAS runs `dot` on one
thread below about 10 000 elements, so the bits do not depend on the number of threads."""

DELTA1, DELTA2, DELTA3 = 1.25, 1.25**2, 1.25**3


@dataclass(frozen=True)
class DepthSums:
    """What the standard depth metrics need from an image; adding pools the pixels of two images.

    `pixels` are the truth pixels that the prediction answers (finite and positive there); every
    other sum runs over them, with p the prediction, g the truth and d = ln p - ln g:

    absrel Σ|p-g|/g · sqrel Σ(p-g)²/g · absolute Σ|p-g| (m) · squared Σ(p-g)² (m²) ·
    inverse_squared Σ(1/p-1/g)² (1/m²) · log_absolute Σ|d| · log_signed Σd ·
    delta1..3 number of pixels with max(p/g, g/p) < 1.25, 1.25², 1.25³.

    The second moment of d is kept in two parts, Σd² = log_within + log_between: within is the sum
    over images of Σ(d - the image's mean)², between the sum over images of (Σd)²/pixels. The
    variance behind SILog is then (within + between - log_signed²/pixels) / pixels: for one image
    the last two terms cancel exactly, so a prediction proportional to the truth does not drown in
    the rounding of its own scale.
    """

    truth_pixels: Count = 0
    pixels: Count = 0
    absrel: Total = 0.0
    sqrel: Total = 0.0
    absolute: Total = 0.0
    squared: Total = 0.0
    inverse_squared: Total = 0.0
    log_absolute: Total = 0.0
    log_signed: Total = 0.0
    log_within: Total = 0.0
    log_between: Total = 0.0
    delta1: Count = 0
    delta2: Count = 0
    delta3: Count = 0

    def __add__(self, other: DepthSums) -> DepthSums:
        names = (field.name for field in fields(self))
        return DepthSums(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True)
class PixelErrors:
    """Errors of the answered pixels in row-major order, for exact quantiles and tests.

    relative |p-g|/g · absolute |p-g| in metres · log ln p - ln g.
    """

    relative: Vector
    absolute: Vector
    log: Vector


def is_depth(values: Depth) -> Mask:
    """True where a value is a depth: finite and positive."""
    found: Mask = (values > 0) & (values < np.inf)
    return found


def measure_errors(prediction: Depth, truth: Depth) -> DepthSums:
    """Sufficient statistics over the truth pixels (finite and positive).

    What counts never depends on the prediction: a truth pixel without an answer (predicted NaN,
    infinite, zero or negative) counts in `truth_pixels` only. Arrays have equal shapes, of any
    number of axes, any layout and any real dtype, and are not modified. Raises MetricError for
    unequal shapes, other dtypes, and answers so large or small that a float64 sum overflows.
    """
    scratch = np.empty((5, min(BLOCK, truth.size)))
    ones = np.ones(scratch.shape[1])
    truth_pixels = 0
    rows = []
    with np.errstate(over="ignore", invalid="ignore"):
        for predicted, true in _blocks_of(prediction, truth):
            found, answered = _select(predicted, true)
            truth_pixels += found
            if answered.size:
                p, g, *rest = scratch[:, : answered.size]
                np.copyto(p, predicted.take(answered))
                np.copyto(g, true.take(answered))
                rows.append(_block_totals(p, g, rest, ones[: answered.size]))
    if not rows:
        return DepthSums(truth_pixels=truth_pixels)
    return _join_blocks(truth_pixels, np.array(rows))


def pixel_errors(prediction: Depth, truth: Depth) -> PixelErrors:
    """The error of every answered truth pixel; memory grows with the image, unlike `DepthSums`."""
    parts: list[tuple[Vector, Vector]] = [(np.empty(0), np.empty(0))]
    for predicted, true in _blocks_of(prediction, truth):
        _, answered = _select(predicted, true)
        parts.append((predicted[answered].astype(np.float64), true[answered].astype(np.float64)))
    p, g = (np.concatenate(side) for side in zip(*parts, strict=True))
    absolute = np.abs(p - g)
    return PixelErrors(relative=absolute / g, absolute=absolute, log=np.log(p) - np.log(g))


def standard_set(sums: DepthSums) -> dict[str, float | None]:
    """The standard depth metrics of pooled pixels; None where undefined.

    absrel, sqrel (m), mae (m), rmse (m), rmse_log, log10, silog (a fraction), silog100 (percent),
    irmse (1/m): lower is better, 0 is perfect. delta1..3: shares of the answered pixels, higher is
    better. coverage: answered / truth pixels. delta1_of_truth counts an unanswered pixel as a miss,
    so that abstaining cannot raise it. Without answers only coverage and delta1_of_truth (both 0)
    are defined; without truth nothing is.
    """
    pixels, truth_pixels = int(sums.pixels), int(sums.truth_pixels)

    def mean(total: float) -> float | None:
        return float(total) / pixels if pixels else None

    def root(total: float, unit: float = 1.0) -> float | None:
        return unit * math.sqrt(float(total) / pixels) if pixels else None

    centred = 0.0
    if pixels:
        # Rounding may leave a negative of the last bit, which means 0; nothing else is guarded.
        between = float(sums.log_between) - float(sums.log_signed) ** 2 / pixels
        centred = max(float(sums.log_within) + between, 0.0)
    return {
        "absrel": mean(sums.absrel),
        "sqrel": mean(sums.sqrel),
        "mae": mean(sums.absolute),
        "rmse": root(sums.squared),
        "rmse_log": root(float(sums.log_within) + float(sums.log_between)),
        "log10": mean(float(sums.log_absolute) / math.log(10)),
        "silog": root(centred),
        "delta1": mean(sums.delta1),
        "delta2": mean(sums.delta2),
        "delta3": mean(sums.delta3),
        "silog100": root(centred, unit=100.0),
        "irmse": root(sums.inverse_squared),
        "coverage": pixels / truth_pixels if truth_pixels else None,
        "delta1_of_truth": int(sums.delta1) / truth_pixels if truth_pixels else None,
    }


def _block_totals(p: Vector, g: Vector, scratch: list[Vector], ones: Vector) -> list[float]:
    """The totals of one block, in the order `_join_blocks` reads; overwrites all its arrays."""
    difference, ratio, size = scratch
    np.subtract(p, g, out=difference)
    np.maximum(p, g, out=ratio)
    np.minimum(p, g, out=size)
    # One division gives max(p/g, g/p) with the bits that two would, and its logarithm is |d|.
    np.divide(ratio, size, out=ratio)
    hits = [float(np.count_nonzero(ratio < limit)) for limit in (DELTA1, DELTA2, DELTA3)]
    np.abs(difference, out=size)
    relative = np.divide(size, g, out=g)
    # A sum written as `dot` with ones takes half the time of `sum`.
    totals = [
        np.dot(relative, ones),
        np.dot(relative, size),
        np.dot(size, ones),
        np.dot(size, size),
    ]
    inverse = np.divide(relative, p, out=p)
    logs = np.log(ratio, out=ratio)
    totals += [np.dot(inverse, inverse), np.dot(logs, ones)]
    np.copysign(logs, difference, out=logs)
    signed = np.dot(logs, ones)
    logs -= signed / ones.size
    return [float(ones.size), *hits, *map(float, totals), float(signed), float(np.dot(logs, logs))]


def _join_blocks(truth_pixels: int, rows: NDArray[np.float64]) -> DepthSums:
    totals = rows.sum(axis=0)
    if not np.isfinite(totals).all():
        raise MetricError(
            "depth errors overflow float64: a prediction or truth is astronomically large or small",
            hint="depths are metres; clamp predictions to the protocol's range",
        )
    pixels, delta1, delta2, delta3 = (int(count) for count in totals[:4])
    absrel, sqrel, absolute, squared, inverse, logs, signed, within = map(float, totals[4:])
    counts = rows[:, 0]
    shift = rows[:, -2] / counts - signed / pixels
    return DepthSums(
        truth_pixels=truth_pixels,
        pixels=pixels,
        absrel=absrel,
        sqrel=sqrel,
        absolute=absolute,
        squared=squared,
        inverse_squared=inverse,
        log_absolute=logs,
        log_signed=signed,
        log_within=within + float((counts * shift * shift).sum()),
        log_between=signed**2 / pixels,
        delta1=delta1,
        delta2=delta2,
        delta3=delta3,
    )


def _select(prediction: Depth, truth: Depth) -> tuple[int, NDArray[np.intp]]:
    """How many pixels have truth, and which of them the prediction answers."""
    valid = is_depth(truth)
    return int(np.count_nonzero(valid)), np.flatnonzero(valid & is_depth(prediction))


def _blocks_of(prediction: Depth, truth: Depth) -> Iterator[tuple[Depth, Depth]]:
    if prediction.shape != truth.shape:
        raise MetricError(
            f"prediction is {prediction.shape}, truth is {truth.shape}; equal shapes expected",
            hint="resize the prediction to the truth's size, never the truth",
        )
    flat_prediction, flat_truth = _flat(prediction, "prediction"), _flat(truth, "truth")
    for start in range(0, truth.size, BLOCK):
        block = slice(start, start + BLOCK)
        yield flat_prediction[block], flat_truth[block]


def _flat(depth: Depth, name: str) -> Depth:
    if depth.dtype.kind not in "fiu":
        raise MetricError(f"{name} has dtype {depth.dtype}; depths in metres are real numbers")
    # Half precision is compared in software, a hundred times slower than after widening.
    wide = depth.astype(np.float32) if depth.dtype == np.float16 else depth
    return wide.reshape(-1)
