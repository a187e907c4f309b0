"""Where tracked boxes are expected in the next frame: where they were, or as fast as before."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Motion(Protocol):
    """The boxes of n tracks over time, (n, 4) `xyxy`; tracks are known by their row."""

    def predict(self) -> Floats:
        """Step to the next frame; where each box is expected there."""
        ...

    def correct(self, rows: Rows, boxes: Floats) -> None:
        """Boxes seen in this frame, of the tracks in these rows."""
        ...

    def keep(self, rows: Rows) -> None:
        """Drop all other tracks."""
        ...

    def add(self, boxes: Floats) -> None:
        """New tracks, seen in this frame, below the others."""
        ...


class Still:
    """Every box is expected where it was last seen."""

    def __init__(self) -> None:
        self._boxes: Floats = np.zeros((0, 4))

    def predict(self) -> Floats:
        """The boxes as last seen."""
        return self._boxes

    def correct(self, rows: Rows, boxes: Floats) -> None:
        """The new place of these boxes."""
        self._boxes = self._boxes.copy()
        self._boxes[rows] = boxes

    def keep(self, rows: Rows) -> None:
        """Drop all other boxes."""
        self._boxes = self._boxes[rows]

    def add(self, boxes: Floats) -> None:
        """New boxes below the others."""
        self._boxes = np.concatenate([self._boxes, boxes])


class ConstantVelocity:
    """A Kalman filter of constant velocity for each of centre x, centre y, width and height.

    The four do not mix, so a filter is two numbers, a value and its change per frame, with their
    2x2 covariance. Standard deviations are `noise` box heights for what is seen, `jolt` box heights
    per frame for how much a velocity changes, and `surprise` for the velocity of a new track.
    """

    def __init__(self, noise: float, jolt: float, surprise: float) -> None:
        self._noise, self._jolt, self._surprise = noise, jolt, surprise
        # Value, velocity, and the three different entries of the covariance, (5, n, 4).
        self._state: Floats = np.zeros((5, 0, 4))

    def predict(self) -> Floats:
        """Move by the velocity; sizes stay positive."""
        value, velocity, variance, covariance, spread = self._state
        change = (self._jolt * _heights(value)) ** 2
        self._state = np.stack(
            [
                value + velocity,
                velocity,
                variance + 2 * covariance + spread,
                covariance + spread,
                spread + change,
            ]
        )
        return _to_corners(self._state[0])

    def correct(self, rows: Rows, boxes: Floats) -> None:
        """Weigh what was expected against what is seen."""
        value, velocity, variance, covariance, spread = self._state[:, rows]
        seen = _to_centre(boxes)
        total = variance + (self._noise * _heights(seen)) ** 2
        gain, push = variance / total, covariance / total
        error = seen - value
        self._state[:, rows] = (
            value + gain * error,
            velocity + push * error,
            variance * (1 - gain),
            covariance * (1 - gain),
            spread - push * covariance,
        )

    def keep(self, rows: Rows) -> None:
        """Drop all other tracks."""
        self._state = self._state[:, rows]

    def add(self, boxes: Floats) -> None:
        """New tracks, whose velocity could be anything."""
        value = _to_centre(boxes)
        still = np.zeros_like(value)
        variance = np.broadcast_to((self._noise * _heights(value)) ** 2, value.shape)
        spread = np.broadcast_to((self._surprise * _heights(value)) ** 2, value.shape)
        fresh = np.stack([value, still, variance, still, spread])
        self._state = np.concatenate([self._state, fresh], axis=1)


def _heights(value: Floats) -> Floats:
    """(n, 1) height of each box, at least a pixel: the scale of all noise."""
    return np.maximum(value[:, 3:], 1.0)


def _to_centre(boxes: Floats) -> Floats:
    size = boxes[:, 2:] - boxes[:, :2]
    return np.concatenate([boxes[:, :2] + size / 2, size], axis=1)


def _to_corners(value: Floats) -> Floats:
    half = np.maximum(value[:, 2:], 1.0) / 2
    return np.concatenate([value[:, :2] - half, value[:, :2] + half], axis=1)
