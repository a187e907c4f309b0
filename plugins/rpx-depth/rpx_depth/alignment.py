"""Fit a prediction to the truth where a protocol allows it: median, affine, and in inverse depth.

A fit sees exactly the pixels of the protocol's mask. Pooling several frames into one fit (one per
sequence) is the same call with more frames, and hides less: a fit per frame also removes the
drift of scale between frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.pixel_errors import Depth, Mask, Vector, is_depth

KINDS = ("none", "median", "affine", "disparity", "inverse_depth")
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
class Frame:
    """One frame to fit: equal shapes; the mask is the protocol's, or None for every truth pixel."""

    prediction: Depth
    truth: Depth
    mask: Mask | None = None


@dataclass(frozen=True)
class Fit:
    """A fitted alignment and the number of pixels behind it."""

    kind: str
    scale: float
    shift: float
    pixels: int


@dataclass(frozen=True)
class Aligned:
    """An aligned depth map (float64 metres) and how many pixels were capped at the far end."""

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


def fit(kind: str, frames: Iterable[Frame]) -> Fit | None:
    """One fit over all the frames; None when they cannot be aligned.

    Not alignable: no usable pixel, or for a line fewer than two or a constant prediction (its
    least-squares line would be any of infinitely many), or values that overflow float64. Usable
    pixels lie in the mask, have truth, and a prediction that is finite and, except where it may be
    an affine or disparity output, positive. Scale may come out zero or negative; the aligned pixels
    that are not positive then count as unanswered. Lines need one pass and constant memory, the
    median keeps the values.
    """
    _check_kind(kind)
    if kind in _LINEAR:
        total = LineMoments()
        for frame in frames:
            total += line_moments(kind, frame)
        return fit_line(kind, total)
    pairs = [_usable(kind, frame) for frame in frames]
    pixels = sum(p.size for p, _ in pairs)
    if not pixels:
        return None
    if kind == "none":
        return Fit(kind, 1.0, 0.0, pixels)
    predicted, true = (np.concatenate(side) for side in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        scale = float(np.median(true) / np.median(predicted))
    return _finite(Fit(kind, scale, 0.0, pixels))


def line_moments(kind: str, frame: Frame) -> LineMoments:
    """The moments of one frame in the space where `kind` is a line."""
    predicted, true = _usable(kind, frame)
    if not predicted.size:
        return LineMoments()
    with np.errstate(over="ignore", invalid="ignore"):
        x = 1 / predicted if kind == "inverse_depth" else predicted
        y = true if kind == "affine" else 1 / true
        mean_x, mean_y = float(x.mean()), float(y.mean())
        x -= mean_x
        y -= mean_y
        # Not `dot`: its bits depend on the number of BLAS threads at this length.
        xx, xy = float((x * x).sum()), float((x * y).sum())
    return LineMoments(x.size, mean_x, mean_y, xx, xy)


def fit_line(kind: str, moments: LineMoments) -> Fit | None:
    """The least-squares line through pooled moments; None for fewer than two or constant x."""
    if moments.pixels < 2 or not math.isfinite(moments.xx):
        return None
    if math.sqrt(moments.xx / moments.pixels) <= _FLAT * abs(moments.mean_x):
        return None
    scale = moments.xy / moments.xx
    return _finite(Fit(kind, scale, moments.mean_y - scale * moments.mean_x, moments.pixels))


def apply(fitted: Fit, prediction: Depth, *, far_cap: float | None = None) -> Aligned:
    """The aligned prediction; pixels that were no answer stay none.

    In inverse depth, an aligned disparity below 1/`far_cap`, which includes the negative ones
    beyond infinity, becomes `far_cap` metres and is counted. Raises ConfigError when such a fit
    comes without a cap: the inverse of a disparity near zero is any depth at all.
    """
    _check_kind(fitted.kind)
    values = prediction.astype(np.float64)
    if fitted.kind == "none":
        return Aligned(values, 0)
    if fitted.kind in ("median", "affine"):
        with np.errstate(invalid="ignore", over="ignore"):
            return Aligned(fitted.scale * values + fitted.shift, 0)
    if far_cap is None or not (far_cap > 0 and math.isfinite(far_cap)):
        raise ConfigError(
            f"alignment {fitted.kind} needs a positive far cap in metres, got {far_cap}",
            hint="set the protocol's max_depth",
        )
    answered = np.isfinite(values) if fitted.kind == "disparity" else is_depth(values)
    aligned = np.full(values.shape, np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        x = values[answered] if fitted.kind == "disparity" else 1 / values[answered]
        disparity = fitted.scale * x + fitted.shift
        clipped = disparity < 1 / far_cap
        aligned[answered] = 1 / np.where(clipped, 1 / far_cap, disparity)
    return Aligned(aligned, int(np.count_nonzero(clipped)))


def _usable(kind: str, frame: Frame) -> tuple[Vector, Vector]:
    """Prediction and truth of the pixels a fit may use, as new float64 vectors."""
    prediction, truth, mask = frame.prediction, frame.truth, frame.mask
    if prediction.shape != truth.shape:
        raise MetricError(
            f"cannot align prediction {prediction.shape} to truth {truth.shape}; "
            "equal shapes expected"
        )
    if mask is not None and (mask.shape != truth.shape or mask.dtype != np.bool_):
        raise MetricError(
            f"alignment mask is {mask.dtype} {mask.shape}; bool {truth.shape} expected"
        )
    keep: NDArray[np.bool_] = is_depth(truth)
    keep &= np.isfinite(prediction) if kind in ("affine", "disparity") else is_depth(prediction)
    if mask is not None:
        keep &= mask
    return prediction[keep].astype(np.float64), truth[keep].astype(np.float64)


def _finite(fitted: Fit) -> Fit | None:
    return fitted if math.isfinite(fitted.scale) and math.isfinite(fitted.shift) else None


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ConfigError(f"unknown alignment {kind!r}", hint=f"one of {', '.join(KINDS)}")
