"""Sparse optical flow in plain numpy: corners, and the pyramidal tracker of Lucas and Kanade.

B. Lucas, T. Kanade, An iterative image registration technique with an application to stereo
vision, IJCAI 1981; J. Shi, C. Tomasi, Good features to track, CVPR 1994.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.float32]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_BORDER = 8
_SMALLEST_EIGENVALUE = 4.0
"""Mean squared gradient, in grey levels, below which a window shows nothing to hold on to."""


@dataclass(frozen=True)
class Tracker:
    """Windows of (2·radius + 1)² pixels on `levels` scales, `steps` Newton steps on each."""

    radius: int = 7
    levels: int = 4
    steps: int = 6


@dataclass(frozen=True, eq=False)
class Pyramid:
    """An image at full, half, quarter, ... size."""

    levels: tuple[Grey, ...]

    def cut(self, count: int) -> Pyramid:
        """The largest `count` levels."""
        return Pyramid(self.levels[:count])


def build_pyramid(rgb: NDArray[np.uint8], levels: int) -> Pyramid:
    """Grey levels of an image, each level averaged over 2x2 pixels of the one below."""
    images = [rgb.astype(np.float32) @ _LUMA]
    while len(images) < levels and min(images[-1].shape) >= 4 * _BORDER:
        image = images[-1]
        image = image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
        halves = (image[::2] + image[1::2]) / 2
        images.append((halves[:, ::2] + halves[:, 1::2]) / 2)
    return Pyramid(tuple(images))


def find_corners(image: Grey, count: int, *, cell: int = 8) -> Floats:
    """At most `count` pixels (n, 2) with the strongest gradients in both directions.

    The strongest of each square cell, so that they spread over the image, strongest first.
    """
    if min(image.shape) <= 2 * _BORDER:
        return np.zeros((0, 2))
    gy, gx = np.asarray(np.gradient(image), np.float32)
    xx, xy, yy = (_box(product) / 25 for product in (gx * gx, gx * gy, gy * gy))
    strength = (xx + yy) / 2 - np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
    strength[:_BORDER] = strength[-_BORDER:] = 0
    strength[:, :_BORDER] = strength[:, -_BORDER:] = 0
    rows, columns = strength.shape[0] // cell, strength.shape[1] // cell
    blocks = strength[: rows * cell, : columns * cell].reshape(rows, cell, columns, cell)
    tiles = blocks.transpose(0, 2, 1, 3).reshape(rows * columns, cell * cell)
    best = tiles.argmax(axis=1)
    peak = tiles[np.arange(len(tiles)), best]
    order = np.argsort(-peak, kind="stable")[:count]
    order = order[peak[order] > _SMALLEST_EIGENVALUE]
    y = order // columns * cell + best[order] // cell
    x = order % columns * cell + best[order] % cell
    return np.column_stack([x, y]).astype(np.float64)


def track(first: Pyramid, second: Pyramid, points: Floats, tracker: Tracker) -> tuple[Floats, Mask]:
    """Where points (n, 2) of the first image are in the second, and which were found.

    Coarse to fine; lost are those that leave the image or whose window has too little texture.
    """
    flow = np.zeros_like(points)
    found = np.ones(len(points), bool)
    for level in reversed(range(len(first.levels))):
        # Pixel centres are at integers: a coarse pixel covers two fine ones.
        places = (points + 0.5) / 2**level - 0.5
        pair = first.levels[level], second.levels[level]
        flow, textured = _refine(pair, places, flow, tracker)
        if level == 0:
            found = textured
        else:
            flow = flow * 2
    height, width = second.levels[0].shape
    moved = points + flow
    inside = (moved >= 0).all(axis=1) & (moved <= (width - 1, height - 1)).all(axis=1)
    return moved, found & inside


def _refine(
    pair: tuple[Grey, Grey], points: Floats, flow: Floats, tracker: Tracker
) -> tuple[Floats, Mask]:
    """Newton steps from a first flow (n, 2), and which windows have texture."""
    reach = np.arange(-tracker.radius - 1, tracker.radius + 2)
    patch = _sample(pair[0], points, reach)
    gx = (patch[:, 1:-1, 2:] - patch[:, 1:-1, :-2]) / 2
    gy = (patch[:, 2:, 1:-1] - patch[:, :-2, 1:-1]) / 2
    patch = patch[:, 1:-1, 1:-1]
    xx, xy, yy = (_mean(product) for product in (gx * gx, gx * gy, gy * gy))
    smallest = (xx + yy) / 2 - np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
    textured = smallest > _SMALLEST_EIGENVALUE / 4
    determinant = np.where(textured, xx * yy - xy * xy, 1.0)
    for _ in range(tracker.steps):
        difference = patch - _sample(pair[1], points + flow, reach[1:-1])
        bx, by = _mean(difference * gx), _mean(difference * gy)
        step = np.column_stack([yy * bx - xy * by, xx * by - xy * bx]) / determinant[:, None]
        # A step beyond the window has left the ground that it was computed on.
        step = np.clip(step, -tracker.radius / 2, tracker.radius / 2)
        flow = flow + np.where(textured[:, None], step, 0.0)
        if np.abs(step[textured]).max(initial=0.0) < 0.02:
            break
    return flow, textured


def _sample(image: Grey, points: Floats, reach: NDArray[np.int_]) -> Grey:
    """Bilinear windows (n, k, k) round points; the border is repeated outwards."""
    height, width = image.shape
    corner = np.floor(points)
    share = (points - corner).astype(np.float32)[:, None, None]
    corner = np.clip(corner, -(2**30), 2**30).astype(np.intp)
    span = np.append(reach, reach[-1] + 1)
    columns = np.clip(corner[:, :1] + span, 0, width - 1)
    rows = np.clip(corner[:, 1:] + span, 0, height - 1)
    block = image.reshape(-1)[(rows * width)[:, :, None] + columns[:, None, :]]
    across = block[:, :, :-1] + (block[:, :, 1:] - block[:, :, :-1]) * share[..., 0]
    return np.asarray(across[:, :-1] + (across[:, 1:] - across[:, :-1]) * share[..., 1])


def _box(image: Grey) -> Grey:
    """The sum of 5x5 pixels, with the border repeated outwards."""
    padded = np.pad(image, 2, mode="edge")
    height, width = image.shape
    rows = padded[:height].copy()
    for shift in range(1, 5):
        rows += padded[shift : shift + height]
    boxes = rows[:, :width].copy()
    for shift in range(1, 5):
        boxes += rows[:, shift : shift + width]
    return boxes


def _mean(windows: NDArray[np.floating]) -> Floats:
    return np.asarray(windows.mean(axis=(1, 2), dtype=np.float64))
