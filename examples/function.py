"""A function is a model: image in, prediction out.

$ rpx run --task monocular_depth --model function.py:predict --limit 18
$ rpx run --task monocular_depth --model function.py:predict --limit 18 --align median
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def predict(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Depth in metres: things far away are higher up in the image, and paler."""
    height, _, _ = rgb.shape
    rows = np.linspace(3.0, 0.8, height, dtype=np.float32)[:, None]
    haze = rgb.mean(axis=2, dtype=np.float32) / 255
    return rows * (0.8 + 0.4 * haze)
