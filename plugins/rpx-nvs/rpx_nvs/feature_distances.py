"""Distances between two sets of feature vectors: Fréchet (FID) and kernel (KID)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.floating]
"""(n, D): a row per image."""

_ROWS = 1024
"""Rows of a kernel matrix that are in memory at a time."""


def frechet_distance(first: Features, second: Features) -> float | None:
    """‖μ₁ − μ₂‖² + tr(Σ₁ + Σ₂ − 2 (Σ₁Σ₂)^½) of the Gaussians fitted to two sets.

    0 for equal sets, no upper end. Σ is the unbiased covariance, over n − 1; None for fewer than
    two rows in a set, which have none. Source: Heusel et al. 2017.

    With A = (X − μ) / √(n − 1), Σ = AᵀA and the eigenvalues of Σ₁Σ₂ are the squared singular values
    of A₁A₂ᵀ. So no matrix root is taken, which is what makes other implementations complex or NaN
    when a covariance is singular: here nothing can be, and the distance of a set to itself is 0.

    Trap: with n not far above D the distance is large for equal distributions too.
    """
    if min(len(first), len(second)) < 2:
        return None
    left, right = (_centred(np.asarray(features, np.float64)) for features in (first, second))
    apart = np.square(np.mean(first, 0, np.float64) - np.mean(second, 0, np.float64)).sum()
    overlap = np.linalg.svd(_reduced(left) @ _reduced(right).T, compute_uv=False).sum()
    spread = np.square(left).sum() + np.square(right).sum()
    # Rounding may leave a distance of zero just below it.
    return float(max(apart + spread - 2 * overlap, 0.0))


def kernel_distance(first: Features, second: Features) -> float | None:
    """The unbiased squared maximum mean discrepancy with the kernel (x·y / D + 1)³.

    mean of k over the pairs i ≠ j of each set, less twice its mean over all pairs across. 0 in
    expectation for equal distributions, no ends: the estimate may be negative, and is not clipped.
    None for fewer than two rows in a set. Over all rows at once, which subsets of 1000 estimate.
    Source: Bińkowski, Sutherland, Arbel and Gretton 2018.
    """
    if min(len(first), len(second)) < 2:
        return None
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    across = _kernel_sum(x, y) / (len(x) * len(y))
    return float(_mean_of_pairs(x) + _mean_of_pairs(y) - 2 * across)


def _centred(features: NDArray[np.float64]) -> NDArray[np.float64]:
    centred: NDArray[np.float64] = features - features.mean(axis=0)
    return centred / float(np.sqrt(len(features) - 1))


def _reduced(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """A matrix of the same AᵀA with no more rows than columns."""
    return np.linalg.qr(rows).R if rows.shape[0] > rows.shape[1] else rows


def _mean_of_pairs(x: NDArray[np.float64]) -> float:
    own = _kernel(np.einsum("ij,ij->i", x, x), x.shape[1]).sum()
    return float(_kernel_sum(x, x) - own) / (len(x) * (len(x) - 1))


def _kernel_sum(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(
        sum(_kernel(x[i : i + _ROWS] @ y.T, x.shape[1]).sum() for i in range(0, len(x), _ROWS))
    )


def _kernel(products: NDArray[np.float64], dimensions: int) -> NDArray[np.float64]:
    kernel: NDArray[np.float64] = (products / dimensions + 1) ** 3
    return kernel
