"""A model with memory: a class with `reset()`, which gets the frames of a sequence in order.

$ rpx run --task monocular_depth --model recurrent.py:SmoothDepth --limit 18 --workers 2
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import rpx_core as rpx
from rpx_core.contracts import Sample


class SmoothDepth:
    """Depth by height in the image, blended with that of the frames before.

    `reset()` is called at the start of every sequence, so that no scene leaks into the next, and
    the numbers do not depend on how sequences are divided among workers.
    """

    task = "monocular_depth"
    keep = 0.5

    def __init__(self) -> None:
        self._before: NDArray[np.float32] | None = None

    def setup(self) -> None:
        """Load weights here; called once in every worker."""

    def reset(self) -> None:
        """Forget the last sequence."""
        self._before = None

    def predict(self, batch: Sequence[Sample]) -> list[rpx.DepthPrediction]:
        """One prediction per frame, in order; a batch never spans two sequences."""
        return [rpx.DepthPrediction(self._step(sample.rgb)) for sample in batch]

    def _step(self, rgb: NDArray[np.uint8] | None) -> NDArray[np.float32]:
        if rgb is None:
            raise ValueError("this model needs an image")
        height, width, _ = rgb.shape
        now = np.repeat(np.linspace(3.0, 0.8, height, dtype=np.float32)[:, None], width, axis=1)
        before = now if self._before is None else self._before
        self._before = self.keep * before + (1 - self.keep) * now
        return self._before
