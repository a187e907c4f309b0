"""Which pixel of the next frame sees the same surface point, and how values change along it.

The geometry behind temporal stability, for every task with dense predictions. Camera axes are
OpenCV's (x right, y down, z forward), poses camera-to-world, depth is z in metres, pixel centres
lie at integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

Indices = NDArray[np.int64]
Vector = NDArray[np.float64]
Depth = NDArray[np.floating[Any]]

OCCLUSION_TOLERANCE = 0.05
"""How far a warped depth may lie from the depth measured where it lands, as a share of the latter.
Nearer or farther, the two pixels see different surfaces: hidden, newly seen, or moved."""

BLOCK = 8192
"""Pixels whose scratch arrays fit the cache."""

_EMPTY = np.iinfo(np.int64).max
_INDEX_BITS = 32


@dataclass(frozen=True)
class View:
    """A depth map (height x width), its camera matrix (3x3) and camera-to-world pose (4x4)."""

    depth: Depth
    intrinsics: NDArray[np.float64]
    pose: NDArray[np.float64]


@dataclass(frozen=True)
class PixelPairs:
    """Flat pixel indices of the same surface points in two frames, ordered by target.

    Every target appears once, every source at most once. `truth_pixels` had depth in the source
    frame, `landed` of them fell inside the target frame; the pairs are those that were also seen.
    """

    source: Indices
    target: Indices
    truth_pixels: int
    landed: int

    @property
    def coverage(self) -> float | None:
        """Share of the source frame's truth pixels that are paired; None without any."""
        return self.target.size / self.truth_pixels if self.truth_pixels else None

    def blocks(self) -> Iterator[PixelPairs]:
        """The pairs in parts whose scratch fits the cache; counts are those of the whole."""
        for start in range(0, self.target.size, BLOCK):
            part = slice(start, start + BLOCK)
            yield replace(self, source=self.source[part], target=self.target[part])


@dataclass(frozen=True)
class ChangeSums:
    """Predicted against true change over pairs; adding pools frame pairs.

    `pairs` were covered, `answered` of them have a prediction in both frames; over those,
    error = Σ|Δp - Δg| and true_change = Σ|Δg|.
    """

    pairs: int = 0
    answered: int = 0
    error: float = 0.0
    true_change: float = 0.0

    def __add__(self, other: ChangeSums) -> ChangeSums:
        return ChangeSums(
            self.pairs + other.pairs,
            self.answered + other.answered,
            self.error + other.error,
            self.true_change + other.true_change,
        )


def match_pixels(
    source: View, target: View, *, tolerance: float = OCCLUSION_TOLERANCE
) -> PixelPairs:
    """Carry every source pixel with depth into the target frame and keep those that it sees.

    A point lands on the nearest pixel; of several on one pixel the nearest to the camera stays
    (equal depths: the lower source index), and only if it agrees with the target's own depth
    within `tolerance`. Raises MetricError for malformed cameras.
    """
    projection = _projection(source, target)
    nearest = np.full(target.depth.size, _EMPTY, dtype=np.int64)
    truth_pixels = landed = 0
    rows = max(1, BLOCK // max(1, source.depth.shape[1]))
    for top in range(0, source.depth.shape[0], rows):
        block = slice(top, min(top + rows, source.depth.shape[0]))
        valid = is_measured(source.depth[block])
        flat, keys = _land(source.depth, block, projection, target.depth.shape)
        hit = np.flatnonzero(valid.reshape(-1) & (flat >= 0))
        np.minimum.at(nearest, flat[hit], keys[hit])
        truth_pixels += int(np.count_nonzero(valid))
        landed += hit.size
    sources, targets = _visible(nearest, target.depth, tolerance)
    return PixelPairs(sources, targets, truth_pixels, landed)


def depth_change(previous: Depth, current: Depth, pairs: PixelPairs) -> Vector:
    """Depth of the paired pixel now minus before, in metres; NaN where either is no depth."""
    before = previous.reshape(-1)[pairs.source].astype(np.float64)
    now = current.reshape(-1)[pairs.target].astype(np.float64)
    known = is_measured(before) & is_measured(now)
    change: Vector = np.where(known, now, np.nan) - np.where(known, before, np.nan)
    return change


def label_change(previous: NDArray[Any], current: NDArray[Any], pairs: PixelPairs) -> Vector:
    """1 where the label of the paired pixel differs between the frames, else 0."""
    before, now = previous.reshape(-1)[pairs.source], current.reshape(-1)[pairs.target]
    changed: Vector = np.not_equal(before, now).astype(np.float64)
    return changed


def compare_changes(predicted: Vector, true: Vector) -> ChangeSums:
    """Sums behind temporal stability from the changes of the same pairs; NaN is unanswered."""
    answered = np.isfinite(predicted) & np.isfinite(true)
    change = true[answered]
    return ChangeSums(
        pairs=true.size,
        answered=int(np.count_nonzero(answered)),
        error=float(np.abs(predicted[answered] - change).sum()),
        true_change=float(np.abs(change).sum()),
    )


def temporal_stability(sums: ChangeSums) -> float | None:
    """1 - Σ|Δp - Δg| / Σ|Δg|: 1 follows the true change, 0 is a constant predictor, no lower end.

    None when nothing truly changed: flicker then has no scale to be measured against.
    """
    change = float(sums.true_change)
    return 1 - float(sums.error) / change if change > 0 else None


def is_measured(depth: NDArray[Any]) -> NDArray[np.bool_]:
    """Which pixels hold a depth: finite and positive."""
    measured: NDArray[np.bool_] = np.isfinite(depth) & (depth > 0)
    return measured


def turn(image: NDArray[np.float32], angle: float) -> NDArray[np.float32]:
    """The image turned about (width/2, height/2), as the published `rpx-1` stability turns it.

    Counter-clockwise as seen, in radians, bilinear, 0 outside. OpenCV, which the published code
    uses, rounds sampling positions to 1/32 pixel.
    """
    height, width = image.shape
    cosine, sine = np.cos(angle), np.sin(angle)
    x = np.arange(width)[None, :] - width / 2
    y = np.arange(height)[:, None] - height / 2
    column = cosine * x - sine * y + width / 2
    row = sine * x + cosine * y + height / 2
    left, top = np.floor(column).astype(np.int64), np.floor(row).astype(np.int64)
    right_share, lower_share = column - left, row - top
    turned = np.zeros(image.shape)
    for down, row_share in ((0, 1 - lower_share), (1, lower_share)):
        for right, column_share in ((0, 1 - right_share), (1, right_share)):
            r, c = top + down, left + right
            inside = (r >= 0) & (r < height) & (c >= 0) & (c < width)
            turned[inside] += (row_share * column_share)[inside] * image[r[inside], c[inside]]
    return turned.astype(np.float32)


def _projection(source: View, target: View) -> tuple[Vector, Vector]:
    """A, b with target pixel ~ depth·A·(u, v, 1) + b, the third component being the new depth."""
    for view in (source, target):
        if view.intrinsics.shape != (3, 3) or view.pose.shape != (4, 4) or view.depth.ndim != 2:
            raise MetricError(
                f"a view has depth {view.depth.shape}, intrinsics {view.intrinsics.shape}, pose "
                f"{view.pose.shape}; height x width, 3x3 and 4x4 expected"
            )
    try:
        motion = np.linalg.inv(target.pose) @ source.pose
        rotation = target.intrinsics @ motion[:3, :3] @ np.linalg.inv(source.intrinsics)
    except np.linalg.LinAlgError as error:
        raise MetricError("a camera matrix or pose is singular") from error
    translation = target.intrinsics @ motion[:3, 3]
    if not (np.isfinite(rotation).all() and np.isfinite(translation).all()):
        raise MetricError("a camera matrix or pose contains NaN or infinity")
    return rotation, translation


def _land(
    depth: Depth,
    rows: slice,
    projection: tuple[Vector, Vector],
    shape: tuple[int, ...],
) -> tuple[Indices, Indices]:
    """Flat target pixel (-1 outside) and z-buffer key of each source pixel in these rows.

    A key holds the new depth (float32 bits, which sort like the number) above the source index, so
    that a plain minimum is the z-buffer and its owner at once.
    """
    (matrix, offset), (height, width) = projection, shape
    u, v = np.arange(depth.shape[1]), np.arange(rows.start, rows.stop)[:, None]
    distance = depth[rows].astype(np.float64)
    # Holes and points on the camera plane give infinities and NaN: neither is inside.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The matrix acts on (u, v, 1): a term per column plus a term per row.
        x, y, z = (
            (distance * (ray[0] * u + (ray[1] * v + ray[2])) + shift).reshape(-1)
            for ray, shift in zip(matrix, offset, strict=True)
        )
        column, row = np.rint(x / z), np.rint(y / z)
        inside = (z > 0) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
        flat = np.where(inside, row * width + column, -1).astype(np.int64)
        keys = z.astype(np.float32).view(np.int32).astype(np.int64) << _INDEX_BITS
    keys |= np.arange(rows.start * depth.shape[1], rows.stop * depth.shape[1])
    return flat, keys


def _visible(nearest: Indices, measured: Depth, tolerance: float) -> tuple[Indices, Indices]:
    """Source and target pixels where the nearest arrival is the surface that was measured."""
    flat = measured.reshape(-1)
    found: list[tuple[Indices, Indices]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for start in range(0, nearest.size, BLOCK):
        winner = nearest[start : start + BLOCK]
        arriving = (winner >> _INDEX_BITS).astype(np.int32).view(np.float32).astype(np.float64)
        depth = flat[start : start + BLOCK].astype(np.float64)
        with np.errstate(invalid="ignore"):
            close = np.abs(arriving - depth) <= tolerance * depth
        seen = np.flatnonzero((winner != _EMPTY) & is_measured(depth) & close)
        found.append((winner[seen] & ((1 << _INDEX_BITS) - 1), seen + start))
    sources, targets = (np.concatenate(side) for side in zip(*found, strict=True))
    return sources, targets
