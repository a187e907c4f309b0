"""The similarity or rigid motion that takes one set of points closest to another, in closed form.

S. Umeyama, Least-squares estimation of transformation parameters between two point patterns, PAMI
13(4), 1991.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FLAT = 1e-12
"""Correlations of two directions below this are the rounding of none."""


@dataclass(frozen=True, eq=False)
class Similarity:
    """target ≈ scale · rotation · source + translation.

    `rank` is the number of directions in which the two sets vary together. Below 2 the motion is
    still the best one, but the rotation about the line of points, or any, would do as well.
    """

    rotation: Floats
    translation: Floats
    scale: float
    rank: int

    @property
    def is_ambiguous(self) -> bool:
        """Whether other rotations fit as well."""
        return self.rank < 2


def fit_similarity(source: Floats, target: Floats, *, with_scale: bool) -> Similarity | None:
    """The least-squares motion from points (n, 3) to points (n, 3); scale 1 unless asked for.

    None without points, and for a scale where one set does not vary with the other: it would be
    any number, or shrink everything to one point.
    """
    if not len(source):
        return None
    # Centred before anything is squared: map coordinates are millions, their spread is metres.
    source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
    a, b = _centre(source, source_mean), _centre(target, target_mean)
    spread_a, spread_b = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    u, d, vt = np.linalg.svd((b / (spread_b or 1.0)).T @ (a / (spread_a or 1.0)))
    rank = int(np.count_nonzero(d > _FLAT))
    if not rank and with_scale:
        return None
    sign = np.array([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(vt))])
    rotation = (u * sign) @ vt if rank else np.eye(3)
    scale = float((d * sign).sum()) * spread_b / spread_a if with_scale else 1.0
    return Similarity(rotation, target_mean - scale * rotation @ source_mean, scale, rank)


def _centre(points: Floats, mean: Floats) -> Floats:
    """Points about their mean; exactly zero where they coincide but for the rounding of it."""
    centred = points - mean
    if np.abs(centred).max() <= 8 * np.finfo(np.float64).eps * np.abs(mean).max():
        return np.zeros_like(centred)
    return centred
