"""Rigid motions as 4x4 matrices, named `destination_from_source`.

`a_from_b @ point_b` is the point in the axes of a. The pose of camera b in the world is
`world_from_b`; the pose of camera b in the axes of camera a is `a_from_b`, and it is also what
takes points of b to a. OpenCV's `recoverPose` returns the inverse, `b_from_a`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def compose(rotations: Floats, translations: Floats) -> Floats:
    """Matrices (..., 4, 4) of rotations (..., 3, 3) and translations (..., 3)."""
    motions = np.zeros((*translations.shape[:-1], 4, 4))
    motions[..., :3, :3] = rotations
    motions[..., :3, 3] = translations
    motions[..., 3, 3] = 1
    return motions


def relate(world_from_a: Floats, world_from_b: Floats) -> Floats:
    """`a_from_b` (..., 4, 4) of two camera-to-world poses: inv(A)·B."""
    back = np.swapaxes(world_from_a[..., :3, :3], -1, -2)
    offset = world_from_b[..., :3, 3] - world_from_a[..., :3, 3]
    # The offset first: far from the origin, the difference of two rotated positions is noise.
    return compose(back @ world_from_b[..., :3, :3], np.einsum("...ij,...j->...i", back, offset))


def skew(vector: Floats) -> Floats:
    """The matrix [v]ₓ with [v]ₓ·w = v × w."""
    x, y, z = vector
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
