"""Which pose of an estimate belongs to which of the truth, by their timestamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_UNITS = {"milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}


@dataclass(frozen=True, eq=False)
class Association:
    """Pairs (m,) of poses, in order of time, and their share of the shorter trajectory."""

    truth_indices: Indices
    indices: Indices
    share: float


def associate(truth: Floats, estimate: Floats, *, max_difference: float) -> Association:
    """Pair each pose of the shorter trajectory with the one of the longer nearest in time.

    Timestamps (n,) and (m,) in seconds, never decreasing. A pose without another within
    `max_difference` stays alone; of two equally near the earlier counts. Equal lengths count the
    estimate as the shorter. A pose of the longer may serve twice, as the recordings with equal
    timestamps that are in use need.
    """
    estimate_is_longer = len(estimate) > len(truth)
    short, long = (truth, estimate) if estimate_is_longer else (estimate, truth)
    if not len(short):
        none = np.zeros(0, np.intp)
        return Association(none, none, 0.0)
    nearest = _nearest(short, long)
    kept = np.flatnonzero(np.abs(long[nearest] - short) <= max_difference)
    pair = (kept, nearest[kept])
    true, estimated = pair if estimate_is_longer else pair[::-1]
    return Association(true, estimated, len(kept) / len(short))


def suspect_unit(truth: Floats, estimate: Floats) -> str | None:
    """The unit that the estimate's timestamps seem to have when it is not seconds, or None.

    Told from the time that both cover, and from the time between poses.
    """
    if len(truth) < 2 or len(estimate) < 2:
        return None
    spans = float(truth[-1] - truth[0]), float(estimate[-1] - estimate[0])
    steps = spans[0] / (len(truth) - 1), spans[1] / (len(estimate) - 1)
    if not spans[0] > 0:
        return None
    for unit, factor in _UNITS.items():
        if any(0.2 < after / before / factor < 5 for before, after in (spans, steps)):
            return unit
    return None


def _nearest(short: Floats, long: Floats) -> Indices:
    after = np.searchsorted(long, short, side="left")
    right = np.minimum(after, len(long) - 1)
    # The first of equal timestamps, as on the right.
    left = np.searchsorted(long, long[np.maximum(after - 1, 0)], side="left")
    closer = np.abs(long[left] - short) <= np.abs(long[right] - short)
    return np.where(closer, left, right)
