"""Which pose of an estimate belongs to which of the truth, by their timestamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_UNITS = {"milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_REACH_STEPS = 1.5
"""Steps of the estimate that one of its poses speaks for: a single pose may drop out."""
_REACH_S = 0.5
"""The same in seconds, at most: a few poses, far apart, do not speak for a whole recording."""


@dataclass(frozen=True, eq=False)
class Association:
    """Pairs (m,) of poses, in order of time, and their share of the shorter trajectory.

    `covered` (n,) says which poses of the truth have an associated one nearby.
    """

    truth_indices: Indices
    indices: Indices
    share: float
    covered: NDArray[np.bool_]


def associate(truth: Floats, estimate: Floats, *, max_difference: float) -> Association:
    """Pair each pose of the shorter trajectory with the one of the longer nearest in time.

    Timestamps (n,) and (m,) in seconds, never decreasing. A pose without another within
    `max_difference` stays alone; of two equally near the earlier counts. Equal lengths count the
    estimate as the shorter. A pose of the longer may serve twice, as the recordings with equal
    timestamps that are in use need.

    A pose of the truth is covered where an associated pose of the estimate lies within
    `max_difference` or, if that is more, 1.5 median steps of the estimate, at most 0.5 s. So the
    rates of either side do not matter, and time without tracking does, wherever it is.
    """
    estimate_is_longer = len(estimate) > len(truth)
    short, long = (truth, estimate) if estimate_is_longer else (estimate, truth)
    if not len(short):
        none = np.zeros(0, np.intp)
        return Association(none, none, 0.0, np.zeros(len(truth), bool))
    nearest = _nearest(short, long)
    kept = np.flatnonzero(np.abs(long[nearest] - short) <= max_difference)
    pair = (kept, nearest[kept])
    true, estimated = pair if estimate_is_longer else pair[::-1]
    covered = _is_near(truth, estimate[estimated], max(max_difference, _reach(estimate)))
    return Association(true, estimated, len(kept) / len(short), covered)


def suspect_unit(truth: Floats, estimate: Floats) -> str | None:
    """The unit that the estimate's timestamps seem to have when it is not seconds, or None.

    Told from the time that both cover, or from the time between poses where the estimate, taken in
    that unit, lies within the truth's time: an estimate may have far fewer poses.
    """
    if len(truth) < 2 or len(estimate) < 2:
        return None
    spans = float(truth[-1] - truth[0]), float(estimate[-1] - estimate[0])
    steps = spans[0] / (len(truth) - 1), spans[1] / (len(estimate) - 1)
    if not spans[0] > 0:
        return None
    for unit, factor in _UNITS.items():
        span, step = (0.2 < after / before / factor < 5 for before, after in (spans, steps))
        overlaps = estimate[0] / factor <= truth[-1] and estimate[-1] / factor >= truth[0]
        if span or (step and overlaps):
            return unit
    return None


def _reach(estimate: Floats) -> float:
    """Seconds within which a pose of the estimate speaks for the truth."""
    steps = np.diff(estimate)
    return min(_REACH_STEPS * float(np.median(steps)), _REACH_S) if steps.size else 0.0


def _is_near(stamps: Floats, others: Floats, reach: float) -> NDArray[np.bool_]:
    """Which of the stamps (n,) have one of the others (m,), both sorted, within reach."""
    if not len(others):
        return np.zeros(len(stamps), bool)
    return np.abs(others[_nearest(stamps, others)] - stamps) <= reach


def _nearest(short: Floats, long: Floats) -> Indices:
    after = np.searchsorted(long, short, side="left")
    right = np.minimum(after, len(long) - 1)
    # The first of equal timestamps, as on the right.
    left = np.searchsorted(long, long[np.maximum(after - 1, 0)], side="left")
    closer = np.abs(long[left] - short) <= np.abs(long[right] - short)
    return np.where(closer, left, right)
