"""Where the surface points of one view appear in another, and which pixel there sees them.

Camera axes are OpenCV's (x right, y down, z forward), poses camera-to-world, depth is z in metres,
pixel centres lie at integers.
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
Matrix = NDArray[np.float64]
Depth = NDArray[np.floating[Any]]
Array = NDArray[Any]

OCCLUSION_TOLERANCE = 0.05
"""How far a warped depth may lie from the depth measured where it lands, as a share of the latter.
Nearer or farther, the two pixels see different surfaces: hidden, newly seen, or moved."""

BLOCK = 8192
"""Pixels whose scratch arrays fit the cache."""

_EMPTY = np.iinfo(np.int64).max
_INDEX_BITS = 32
_NEAREST = np.finfo(np.float32).tiny
"""Metres: dividing by a tinier depth overflows."""


@dataclass(frozen=True)
class Camera:
    """A pinhole camera: 3x3 intrinsics and 4x4 camera-to-world pose."""

    intrinsics: Matrix
    pose: Matrix


@dataclass(frozen=True)
class View:
    """A depth map (height x width), a hole where it is not finite and positive, and its camera."""

    depth: Depth
    camera: Camera


@dataclass(frozen=True)
class Projected:
    """Surface points as a camera sees them, one entry each: column and row (px), depth (m) there.

    They lie in front of the camera, though perhaps beside its image. `origin` is the flat index of
    the pixel that each comes from, in ascending order.
    """

    column: Vector
    row: Vector
    depth: Vector
    origin: Indices

    def land(self, shape: tuple[int, ...]) -> tuple[Indices, Indices]:
        """Which of the points fall on an image (height, width, ...), and on which flat pixel."""
        height, width = shape[0], shape[1]
        column, row = np.rint(self.column), np.rint(self.row)
        landed = np.flatnonzero((column >= 0) & (column < width) & (row >= 0) & (row < height))
        return landed, (row[landed] * width + column[landed]).astype(np.int64)


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

    def values(self, previous: Array, current: Array) -> tuple[Array, Array]:
        """What two maps (height, width, ...) of the frames hold at either end of every pair."""
        return _flat(previous)[self.source], _flat(current)[self.target]

    def select(self, kept: slice | NDArray[np.bool_]) -> PixelPairs:
        """Some of the pairs; counts stay those of the whole."""
        return replace(self, source=self.source[kept], target=self.target[kept])

    def blocks(self) -> Iterator[PixelPairs]:
        """The pairs in parts whose scratch fits the cache."""
        for start in range(0, self.target.size, BLOCK):
            yield self.select(slice(start, start + BLOCK))


def project(source: View, target: Camera) -> Projected:
    """Every measured pixel of a view, as the target camera sees its surface point.

    Points at or behind the target camera's plane are left out. Raises MetricError for malformed
    cameras.
    """
    return _project_rows(source, _projection(source, target), slice(0, source.depth.shape[0]))


def match_pixels(
    source: View, target: View, *, tolerance: float = OCCLUSION_TOLERANCE
) -> PixelPairs:
    """Carry every source pixel with depth into the target frame and keep those that it sees.

    A point lands on the nearest pixel; of several on one pixel the nearest to the camera stays
    (equal depths: the lower source index), and only if it agrees with the target's own depth
    within `tolerance`. Raises MetricError for malformed cameras.
    """
    projection = _projection(source, target.camera)
    _check_depth(target)
    nearest = np.full(target.depth.size, _EMPTY, dtype=np.int64)
    landed = 0
    rows = max(1, BLOCK // max(1, source.depth.shape[1]))
    for top in range(0, source.depth.shape[0], rows):
        points = _project_rows(source, projection, slice(top, top + rows))
        inside, pixels = points.land(target.depth.shape)
        # Above the source index stands the depth, as float32 bits, which sort like the number: so
        # a plain minimum is the z-buffer and its owner at once.
        with np.errstate(over="ignore"):
            depth = points.depth[inside].astype(np.float32).view(np.int32).astype(np.int64)
        np.minimum.at(nearest, pixels, depth << _INDEX_BITS | points.origin[inside])
        landed += inside.size
    sources, targets = _visible(nearest, target.depth, tolerance)
    return PixelPairs(sources, targets, int(np.count_nonzero(is_measured(source.depth))), landed)


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


def _flat(values: Array) -> Array:
    return values.reshape(-1, *values.shape[2:])


def _check_depth(view: View) -> None:
    if view.depth.ndim != 2:
        raise MetricError(f"a view has depth {view.depth.shape}; height x width was expected")


def _projection(source: View, target: Camera) -> tuple[Matrix, Vector]:
    """A, b with target pixel ~ depth·A·(u, v, 1) + b, the third component being the new depth."""
    _check_depth(source)
    for camera in (source.camera, target):
        if camera.intrinsics.shape != (3, 3) or camera.pose.shape != (4, 4):
            raise MetricError(
                f"a camera has intrinsics {camera.intrinsics.shape} and pose {camera.pose.shape}; "
                "3x3 and 4x4 were expected"
            )
    try:
        motion = np.linalg.inv(target.pose) @ source.camera.pose
        rotation = target.intrinsics @ motion[:3, :3] @ np.linalg.inv(source.camera.intrinsics)
    except np.linalg.LinAlgError as error:
        raise MetricError("a camera matrix or pose is singular") from error
    translation = target.intrinsics @ motion[:3, 3]
    if not (np.isfinite(rotation).all() and np.isfinite(translation).all()):
        raise MetricError("a camera matrix or pose contains NaN or infinity")
    return rotation, translation


def _project_rows(view: View, projection: tuple[Matrix, Vector], rows: slice) -> Projected:
    block = view.depth[rows]
    origin = np.flatnonzero(is_measured(block))
    distance = block.reshape(-1)[origin].astype(np.float64)
    u, v = np.arange(block.shape[1]), np.arange(rows.start, rows.start + block.shape[0])[:, None]
    # Astronomic depths give infinities and NaN, which land nowhere.
    with np.errstate(over="ignore", invalid="ignore"):
        # The matrix acts on (u, v, 1): a term per column plus a term per row.
        x, y, z = (
            distance * (ray[0] * u + (ray[1] * v + ray[2])).reshape(-1)[origin] + shift
            for ray, shift in zip(*projection, strict=True)
        )
        ahead = z > _NEAREST
        if not ahead.all():
            x, y, z, origin = (values[ahead] for values in (x, y, z, origin))
        return Projected(x / z, y / z, z, origin + rows.start * block.shape[1])


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
