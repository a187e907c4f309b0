"""Area under the recall curve of errors up to a threshold, by its four definitions.

recall(x) is the share of all errors that are at most x. They differ by several points on the same
errors, so every number says which it is: `exact` integrates the steps; `trapezoid` joins the
sorted errors by straight lines (SuperGlue, LoFTR); `grid` samples recall at 100 places (RPX); mean
average accuracy (mAA) averages recall at whole thresholds (Image Matching Challenge).

Errors are (n,), in any order. One that is infinite or NaN is a failure: it stays in the
denominator and is never recalled. Without errors all are None.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRID_POINTS = 100
_ROUNDING = 1e-9


def auc_exact(errors: Floats, threshold: float) -> float | None:
    """∫ recall / threshold: the mean of max(0, 1 - e/threshold)."""
    if not errors.size:
        return None
    # Sorted: the last bit of a sum depends on the order.
    kept = np.sort(errors[errors < threshold])
    return float((1 - kept / threshold).sum() / errors.size)


def auc_trapezoid(errors: Floats, threshold: float) -> float | None:
    """The area under straight lines from (0, 0) through (eᵢ, i/n), flat after the last below."""
    if not errors.size:
        return None
    kept = np.sort(errors[errors < threshold])
    places = np.concatenate([[0.0], kept, [threshold]])
    recall = np.concatenate([np.arange(kept.size + 1), [kept.size]]) / errors.size
    return _area(recall, places)


def auc_grid(errors: Floats, threshold: float) -> float | None:
    """The trapezoid rule over recall at 100 equidistant places from 0 to the threshold."""
    if not errors.size:
        return None
    places = np.linspace(0.0, threshold, GRID_POINTS)
    # At 0 only perfect errors count, which rounding must not make imperfect.
    return _area(_recall(errors, np.maximum(places, _ROUNDING)), places)


def mean_average_accuracy(errors: Floats, highest: int) -> float | None:
    """The mean of recall at 1, 2, ... `highest`."""
    if not errors.size:
        return None
    return float(_recall(errors, np.arange(1.0, highest + 1)).mean())


def _recall(errors: Floats, places: Floats) -> Floats:
    # NaN sorts behind infinity, where no place finds it.
    return np.searchsorted(np.sort(errors), places, side="right") / errors.size


def _area(heights: Floats, places: Floats) -> float:
    total = float(((heights[1:] + heights[:-1]) / 2 * np.diff(places)).sum())
    # Rounding must not make a perfect area better than perfect.
    return min(total / float(places[-1]), 1.0)
