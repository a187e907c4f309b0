"""Choosing pairs of frames so that small and large rotations are both seen, reproducibly."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SEED = 5062026
EDGES_DEG = (0.0, 15.0, 45.0, 90.0, 180.0)


@dataclass(frozen=True)
class Selection:
    """At most `per_bin` pairs of each bin of rotation, chosen from a seed."""

    per_bin: int
    seed: int = SEED


def bin_rotations(angles_deg: Floats) -> Indices:
    """Which bin each angle (n,) is in: [0, 15), [15, 45), [45, 90) or [90, 180] degrees."""
    return np.searchsorted(EDGES_DEG[1:-1], angles_deg, side="right")


def choose_pairs(bins: Indices, sequence: str, selection: Selection) -> Indices:
    """Positions of the pairs that a selection takes from one sequence, in their order.

    The choice depends on the seed and the name of the sequence, not on other sequences.
    """
    key = int.from_bytes(hashlib.sha256(sequence.encode()).digest()[:8], "little")
    rng = np.random.default_rng([selection.seed, key])
    chosen = [
        rng.permutation(np.flatnonzero(bins == number))[: selection.per_bin]
        for number in range(len(EDGES_DEG) - 1)
    ]
    return np.sort(np.concatenate(chosen))


def bin_name(number: int) -> str:
    """A bin as results are sliced by it: `15-45`."""
    return f"{EDGES_DEG[number]:g}-{EDGES_DEG[number + 1]:g}"
