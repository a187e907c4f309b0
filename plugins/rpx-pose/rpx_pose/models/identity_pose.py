"""The camera never moved: what any pose model must beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rpx_core.contracts import Runtime, Sample
from rpx_pose.types import RelativePosePrediction


class IdentityPose:
    """Answers no rotation and no translation for every pair; its direction is always wrong."""

    task = "relative_camera_pose"

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[RelativePosePrediction]:
        """The identity for each pair."""
        return [RelativePosePrediction(np.eye(3), np.zeros(3)) for _ in batch]


def load(options: None, runtime: Runtime) -> IdentityPose:
    """The model, for any device."""
    return IdentityPose()
