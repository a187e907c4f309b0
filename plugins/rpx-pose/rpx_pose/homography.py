"""Homographies: transfer of points, corner error, change of image size, and a robust fit.

A homography takes pixels of the first image to the second. The fit is random sampling with a fixed
seed over sorted matches: the same matches, in any order, give the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_SAMPLES = 512
_SCORED = 4096
_SEED = 5062026
_REFITS = 4
_SMALLEST = 1e-12


def transfer(homography: Floats, points: Floats) -> Floats:
    """Where homographies (..., 3, 3) take points (n, 2); NaN where that is at infinity."""
    homogeneous = homography @ np.stack([*points.T, np.ones(len(points))])
    scale = homogeneous[..., 2:, :]
    scale = np.where(np.abs(scale) < _SMALLEST, np.nan, scale)
    return np.swapaxes(homogeneous[..., :2, :] / scale, -1, -2)


def corner_error(truth: Floats, estimate: Floats | None, size: tuple[int, int]) -> float:
    """Mean distance in pixels between where two homographies take the corners of an image.

    `size` is (width, height); corners are the centres of corner pixels, 0 to width - 1. Infinite
    without an estimate, and where one corner goes to infinity.
    """
    if estimate is None:
        return float("inf")
    width, height = size
    corners = np.array([[0, 0], [width - 1, 0], [0, height - 1], [width - 1, height - 1]], float)
    distances = np.linalg.norm(transfer(truth, corners) - transfer(estimate, corners), axis=1)
    return float(distances.mean()) if np.isfinite(distances).all() else float("inf")


def rescale_homography(homography: Floats, scaling0: Floats, scaling1: Floats) -> Floats:
    """The homography between resized images: S1·H·S0⁻¹, each image by its own scaling (3, 3)."""
    return np.asarray(scaling1 @ homography @ np.linalg.inv(scaling0))


def fit_homography(points0: Floats, points1: Floats, *, threshold: float) -> Floats | None:
    """The homography that most matches (n, 2), (n, 2) follow within `threshold` pixels.

    None for fewer than four matches, or where no sample of four spans a plane. The best of 512
    samples is refitted to its inliers by the normalised direct linear transform.
    """
    if len(points0) < 4:
        return None
    order = np.lexsort((*points1.T, *points0.T))
    points0, points1 = points0[order], points1[order]
    rng = np.random.default_rng(_SEED)
    picks = rng.integers(0, len(points0), (_SAMPLES, 4))
    candidates = _solve(points0[picks], points1[picks])
    # Candidates are told apart by some of the matches: all of a dense field would fill the memory.
    some = rng.permutation(len(points0))[:_SCORED]
    support = _follow(candidates, points0[some], points1[some], threshold).sum(axis=1)
    homography: Floats = candidates[int(support.argmax())]
    kept = _follow(homography[None], points0, points1, threshold)[0]
    for _ in range(_REFITS):
        if kept.sum() < 4:
            return None
        refit = _solve(points0[kept][None], points1[kept][None])[0]
        again = _follow(refit[None], points0, points1, threshold)[0]
        if again.sum() < kept.sum():
            break
        homography, kept = refit, again
    return homography


def _follow(homographies: Floats, points0: Floats, points1: Floats, threshold: float) -> Mask:
    distance = np.linalg.norm(transfer(homographies, points0) - points1, axis=-1)
    return np.asarray(distance <= threshold)


def _solve(points0: Floats, points1: Floats) -> Floats:
    """Homographies (k, 3, 3) of k sets of at least four matches (k, m, 2), by least squares."""
    (p0, t0), (p1, t1) = _normalise(points0), _normalise(points1)
    x0, y0, x1, y1 = *np.moveaxis(p0, -1, 0), *np.moveaxis(p1, -1, 0)
    one, zero = np.ones_like(x0), np.zeros_like(x0)
    rows = [
        [x0, y0, one, zero, zero, zero, -x1 * x0, -x1 * y0, -x1],
        [zero, zero, zero, x0, y0, one, -y1 * x0, -y1 * y0, -y1],
    ]
    system = np.concatenate([np.stack(row, axis=-1) for row in rows], axis=1)
    # The smallest eigenvector of AᵀA: one 9x9 problem however many matches there are.
    _, vectors = np.linalg.eigh(np.swapaxes(system, 1, 2) @ system)
    return np.asarray(np.linalg.inv(t1) @ vectors[:, :, 0].reshape(-1, 3, 3) @ t0)


def _normalise(points: Floats) -> tuple[Floats, Floats]:
    """Points about their mean with a mean distance of √2, and the transforms (k, 3, 3) to them."""
    mean = points.mean(axis=1, keepdims=True)
    spread = np.linalg.norm(points - mean, axis=-1).mean(axis=1)
    scale = np.sqrt(2) / np.maximum(spread, _SMALLEST)
    transform = np.zeros((len(points), 3, 3))
    transform[:, 0, 0] = transform[:, 1, 1] = scale
    transform[:, :2, 2] = -scale[:, None] * mean[:, 0]
    transform[:, 2, 2] = 1
    return (points - mean) * scale[:, None, None], transform
