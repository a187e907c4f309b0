"""Fit a prediction to the truth where a protocol allows it: median, affine, and in inverse depth.

A fit sees exactly the pixels (or points) that have truth. Pooling several frames into one fit (one
per sequence) is the same call with more frames, and hides less: a fit per frame also removes the
drift of scale between frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.pixel_errors import Depth, Mask, Vector, is_depth
from rpx_depth.types import DepthPair

METHODS = ("none", "median", "affine", "disparity", "inverse_depth")
"""What is fitted, p the prediction and g the truth:

none: nothing. median: g ≈ scale·p with scale = median(g) / median(p). affine: g ≈ scale·p + shift.
disparity: the model outputs disparity, 1/g ≈ scale·p + shift. inverse_depth: the model outputs
depth, 1/g ≈ scale/p + shift (the published `ls_disparity`). The last three are ordinary least
squares, without robustness or a sign constraint.
"""

_LINEAR = ("affine", "disparity", "inverse_depth")
# A spread below this share of the mean is the rounding of a constant, not a signal.
_FLAT = 1e-12


@dataclass(frozen=True)
class Fit:
    """A fitted alignment and the number of pixels behind it."""

    method: str
    scale: float
    shift: float
    pixels: int


@dataclass(frozen=True, eq=False)
class AlignedDepth:
    """Aligned depths (float64 metres) and how many of them were capped at the far end."""

    depth: Depth
    clipped: int


@dataclass(frozen=True)
class LineMoments:
    """Centred moments of pairs (x, y), from which a line is fitted; adding pools the pairs.

    Centred, because raw normal equations lose half the digits when the mean dwarfs the spread.
    """

    pixels: int = 0
    mean_x: float = 0.0
    mean_y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    def __add__(self, other: LineMoments) -> LineMoments:
        pixels = self.pixels + other.pixels
        if not self.pixels or not other.pixels:
            return self if self.pixels else other
        dx, dy = other.mean_x - self.mean_x, other.mean_y - self.mean_y
        share = other.pixels / pixels
        weight = self.pixels * share
        return LineMoments(
            pixels=pixels,
            mean_x=self.mean_x + dx * share,
            mean_y=self.mean_y + dy * share,
            xx=self.xx + other.xx + dx * dx * weight,
            xy=self.xy + other.xy + dx * dy * weight,
        )


def fit(method: str, pairs: Iterable[DepthPair]) -> Fit | None:
    """One fit over all the frames; None when they cannot be aligned.

    Not alignable: no usable pixel, or for a line fewer than two or a constant prediction (its
    least-squares line would be any of infinitely many), or values that overflow float64. Usable
    pixels have truth, and a prediction that is finite and, except where it may be an affine or
    disparity output, positive. Scale may come out zero or negative; the aligned pixels that are
    not positive then count as unanswered. Lines need one pass and constant memory, the median
    keeps the values.
    """
    _check_method(method)
    if method in _LINEAR:
        total = LineMoments()
        for pair in pairs:
            total += line_moments(method, pair)
        return fit_line(method, total)
    values = [_usable_values(method, pair) for pair in pairs]
    pixels = sum(p.size for p, _ in values)
    if not pixels:
        return None
    if method == "none":
        return Fit(method, 1.0, 0.0, pixels)
    predicted, true = (np.concatenate(side) for side in zip(*values, strict=True))
    with np.errstate(over="ignore"):
        scale = float(np.median(true) / np.median(predicted))
    return _finite(Fit(method, scale, 0.0, pixels))


def line_moments(method: str, pair: DepthPair) -> LineMoments:
    """The moments of one frame in the space where `method` fits a line."""
    predicted, true = _usable_values(method, pair)
    if not predicted.size:
        return LineMoments()
    with np.errstate(over="ignore", invalid="ignore"):
        x = 1 / predicted if method == "inverse_depth" else predicted
        y = true if method == "affine" else 1 / true
        mean_x, mean_y = float(x.mean()), float(y.mean())
        x -= mean_x
        y -= mean_y
        # Not `dot`: its bits depend on the number of BLAS threads at this length.
        xx, xy = float((x * x).sum()), float((x * y).sum())
    return LineMoments(x.size, mean_x, mean_y, xx, xy)


def fit_line(method: str, moments: LineMoments) -> Fit | None:
    """The least-squares line through pooled moments; None for fewer than two or constant x."""
    if moments.pixels < 2 or not math.isfinite(moments.xx):
        return None
    if math.sqrt(moments.xx / moments.pixels) <= _FLAT * abs(moments.mean_x):
        return None
    scale = moments.xy / moments.xx
    return _finite(Fit(method, scale, moments.mean_y - scale * moments.mean_x, moments.pixels))


def apply(fitted: Fit, prediction: Depth, *, far_cap: float | None = None) -> AlignedDepth:
    """The aligned prediction; pixels that were no answer stay none.

    In inverse depth, an aligned disparity below 1/`far_cap`, which includes the negative ones
    beyond infinity, becomes `far_cap` metres and is counted. Raises ConfigError when such a fit
    comes without a cap: the inverse of a disparity near zero is any depth at all.
    """
    _check_method(fitted.method)
    values = prediction.astype(np.float64)
    if fitted.method == "none":
        return AlignedDepth(values, 0)
    if fitted.method in ("median", "affine"):
        with np.errstate(invalid="ignore", over="ignore"):
            return AlignedDepth(fitted.scale * values + fitted.shift, 0)
    if far_cap is None or not (far_cap > 0 and math.isfinite(far_cap)):
        raise ConfigError(
            f"alignment {fitted.method} needs a positive far cap in metres, got {far_cap}",
            hint="set the protocol's max_depth",
        )
    answered = np.isfinite(values) if fitted.method == "disparity" else is_depth(values)
    aligned = np.full(values.shape, np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        x = values[answered] if fitted.method == "disparity" else 1 / values[answered]
        disparity = fitted.scale * x + fitted.shift
        clipped = disparity < 1 / far_cap
        aligned[answered] = 1 / np.where(clipped, 1 / far_cap, disparity)
    return AlignedDepth(aligned, int(np.count_nonzero(clipped)))


def usable(method: str, pair: DepthPair) -> Mask:
    """True where a fit may look: at truth that the prediction answers.

    Raises MetricError for unequal shapes.
    """
    prediction, truth = pair.prediction, pair.truth
    if prediction.shape != truth.shape:
        raise MetricError(
            f"cannot align prediction {prediction.shape} to truth {truth.shape}; "
            "equal shapes expected"
        )
    is_answer = np.isfinite if method in ("affine", "disparity") else is_depth
    return is_depth(truth) & is_answer(prediction)


def _usable_values(method: str, pair: DepthPair) -> tuple[Vector, Vector]:
    """Prediction and truth of the pixels a fit may use, as new float64 vectors."""
    keep = usable(method, pair)
    return pair.prediction[keep].astype(np.float64), pair.truth[keep].astype(np.float64)


def _finite(fitted: Fit) -> Fit | None:
    return fitted if math.isfinite(fitted.scale) and math.isfinite(fitted.shift) else None


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ConfigError(f"unknown alignment {method!r}", hint=f"one of {', '.join(METHODS)}")
