"""Errors of many relative poses at once: rotation, direction and length of the translation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError
from rpx_pose.rotations import angle_between, direction_angle

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

Direction = Literal["signed", "folded"]

LARGEST_DEG = 180.0
SHORTEST_M = 1e-9
"""A translation below this has no direction."""


@dataclass(frozen=True, eq=False)
class RelativePoses:
    """Rotations (n, 3, 3) and translations (n, 3) of n pairs; `found` (n,) marks the real ones.

    None means that all are found. What stands where none is found does not matter, if finite.
    """

    rotations: Floats
    translations: Floats
    found: Mask | None = None


@dataclass(frozen=True, eq=False)
class PoseErrors:
    """Errors (n,) of n pairs; degrees, and metres for `translation_m`.

    `has_direction` marks the pairs whose true translation is long enough to have one: elsewhere
    all that involves a direction is undefined and holds 0.
    """

    rotation_deg: Floats
    direction_deg: Floats
    folded_deg: Floats
    translation_m: Floats
    has_direction: Mask

    def max_deg(self, direction: Direction) -> Floats:
        """The larger of rotation and direction error: what pose AUC is about."""
        angle = self.direction_deg if direction == "signed" else self.folded_deg
        return np.where(self.has_direction, np.maximum(self.rotation_deg, angle), 0.0)


def measure_pose_errors(
    truth: RelativePoses, prediction: RelativePoses, *, shortest_m: float = SHORTEST_M
) -> PoseErrors:
    """Errors of predicted relative poses.

    Rotation: the angle of RpᵀRg, never folded. Direction: the angle between the translations,
    signed (an opposite one is 180°), and folded to 90° as an essential matrix leaves it; the
    largest where the prediction does not move although the truth does. A pair without a pose has
    the largest angles, and `translation_m` means nothing there.
    """
    if truth.rotations.shape != prediction.rotations.shape:
        raise MetricError(
            f"{len(prediction.rotations)} predicted poses for {len(truth.rotations)} true ones"
        )
    found = np.ones(len(truth.rotations), bool) if prediction.found is None else prediction.found
    rotation = np.degrees(angle_between(prediction.rotations, truth.rotations))
    moves = np.linalg.norm(truth.translations, axis=-1) >= shortest_m
    directed = found & (np.linalg.norm(prediction.translations, axis=-1) >= SHORTEST_M)
    angle = np.degrees(direction_angle(truth.translations, prediction.translations))
    signed = np.where(directed, angle, LARGEST_DEG)
    folded = np.where(directed, np.minimum(angle, LARGEST_DEG - angle), LARGEST_DEG / 2)
    return PoseErrors(
        rotation_deg=np.where(found, rotation, LARGEST_DEG),
        direction_deg=np.where(moves, signed, 0.0),
        folded_deg=np.where(moves, folded, 0.0),
        translation_m=np.linalg.norm(prediction.translations - truth.translations, axis=-1),
        has_direction=moves,
    )
