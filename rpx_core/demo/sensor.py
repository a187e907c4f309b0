"""What a depth camera makes of exact depth: millimetres, and no reading where it would fail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.demo.camera import Camera
from rpx_core.demo.textures import Floats32
from rpx_core.demo.tracks import View

FAR_M = 5.0
_LEFT_BAND_PX = 4
_BORDER_PX = 1
_DARK = 0.06
_GRAZING = 0.05


def measure_depth(view: View, rgb: Floats32) -> NDArray[np.uint16]:
    """Depth (height, width) in mm; 0 at the border, far away, on dark and on grazed surfaces."""
    height, width = rgb.shape[:2]
    depth = view.hits.depth.reshape(height, width)
    hole = (depth > FAR_M) | (rgb.max(axis=2) < _DARK)
    hole |= _grazed(view.camera, depth)
    # The left band is where the second eye of a stereo depth camera has no view.
    hole[:, :_LEFT_BAND_PX] = True
    hole[:_BORDER_PX], hole[-_BORDER_PX:], hole[:, -_BORDER_PX:] = True, True, True
    return np.where(hole, 0, np.rint(1000 * np.minimum(depth, FAR_M))).astype(np.uint16)


def _grazed(camera: Camera, depth: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Pixels seen almost edge on, and the seams between near and far.

    Inverse depth is linear in the pixel on a plane, so its slopes give the normal n with
    n . ray = 1 / depth.
    """
    k = camera.intrinsics
    inverse = (1 / depth).astype(np.float32)
    across = np.float32(k.fx) * np.gradient(inverse, axis=1)
    down = np.float32(k.fy) * np.gradient(inverse, axis=0)
    x = ((np.arange(camera.width) - k.cx) / k.fx).astype(np.float32)[None, :]
    y = ((np.arange(camera.height) - k.cy) / k.fy).astype(np.float32)[:, None]
    forward = inverse - x * across - y * down
    squared = (across * across + down * down + forward * forward) * (1 + x * x + y * y)
    return np.asarray(inverse * inverse < _GRAZING**2 * squared)
