"""Percentage of correct keypoints at a threshold that scales with what is looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def relative_threshold(alpha: float, width: float, height: float) -> float:
    """alpha · max(width, height), in pixels."""
    return alpha * max(width, height)


def extent(points: Floats) -> tuple[float, float]:
    """Width and height of the smallest box around points (n, 2): largest minus smallest.

    Only of points that are there: padding would make the object look larger.
    """
    width, height = points.max(axis=0) - points.min(axis=0)
    return float(width), float(height)


def count_correct(errors: Floats, threshold: float) -> int:
    """How many errors (n,) are at most the threshold."""
    return int(np.count_nonzero(errors <= threshold))
