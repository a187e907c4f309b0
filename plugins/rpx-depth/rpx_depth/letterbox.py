"""Fitting an image into a fixed canvas, as Metric3D wants its input, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CANVAS = (616, 1064)
"""Height and width that the ViT networks of Metric3D V2 were trained with."""
CANONICAL_FOCAL_PX = 1000.0
"""Focal length of the camera in whose depths the network answers."""
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)
"""ImageNet's mean and deviation, of colours from 0 to 255."""


@dataclass(frozen=True)
class Letterbox:
    """Where an image of a `shape` lies in the canvas once it was scaled: at `top`, `left`.

    Centred, as its authors do; the benchmark's first adapter put it into the upper left corner.
    """

    shape: tuple[int, int]
    scale: float
    inner: tuple[int, int]
    top: int
    left: int

    def to_metres(self, focal_px: float) -> float:
        """What the network's depth is multiplied by, for the focal length of the whole image."""
        return focal_px * self.scale / CANONICAL_FOCAL_PX

    def crop(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The part of a map (..., 616, 1064) that shows the image."""
        height, width = self.inner
        return values[..., self.top : self.top + height, self.left : self.left + width]


def fit(shape: tuple[int, int]) -> Letterbox:
    """The largest place for an image of this height and width, of the same proportions."""
    height, width = shape
    scale = min(CANVAS[0] / height, CANVAS[1] / width)
    inner = max(int(height * scale), 1), max(int(width * scale), 1)
    top, left = (CANVAS[0] - inner[0]) // 2, (CANVAS[1] - inner[1]) // 2
    return Letterbox(shape, scale, inner, top, left)


def paint(rgb: NDArray[np.uint8], box: Letterbox) -> NDArray[np.float32]:
    """The normalised canvas (3, 616, 1064); around the image it is 0, the mean colour.

    The authors pad with the mean before they normalise, which comes to the same. Padding with
    black instead, as the benchmark's first adapter did, shows the network a dark frame of -2
    that it never met in training.
    """
    height, width = box.inner
    scaled = _resize(_resize(rgb.astype(np.float32), height, axis=0), width, axis=1)
    # Colours are whole numbers before they are normalised, as after the authors' cv2.resize.
    normal = (np.rint(scaled) - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
    canvas = np.zeros((3, *CANVAS), np.float32)
    box.crop(canvas)[:] = normal.transpose(2, 0, 1)
    return canvas


def _resize(values: NDArray[np.float32], size: int, *, axis: int) -> NDArray[np.float32]:
    """Linear interpolation between pixel centres along one axis, without smoothing.

    As cv2.INTER_LINEAR has it, also where the image gets smaller.
    """
    old = values.shape[axis]
    at = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
    below = np.minimum(at.astype(np.intp), max(old - 2, 0))
    weight = (at - below).astype(np.float32).reshape([-1 if i == axis else 1 for i in range(3)])
    above = np.minimum(below + 1, old - 1)
    first, second = values.take(below, axis), values.take(above, axis)
    mixed: NDArray[np.float32] = first + (second - first) * weight
    return mixed
