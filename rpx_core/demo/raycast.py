"""Exact visibility: which surface a ray meets first, and at what depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.demo.camera import Camera, Floats
from rpx_core.demo.shapes import Shape
from rpx_core.demo.textures import Finish

Indices = NDArray[np.intp]
Colour = tuple[float, float, float]
Scalar = TypeVar("Scalar", np.float32, np.float64)
Bounds = tuple[float, float, float, float]

_NEAREST_BOUNDED_M = 0.05


@dataclass(frozen=True)
class Material:
    """Two colours (0..1) that a finish mixes; `texels` per metre; the texture starts at `shift`."""

    base: Colour
    mark: Colour
    finish: Finish
    texels: float = 1000.0
    shift: tuple[float, float] = (0.0, 0.0)
    gloss: float = 0.0


@dataclass(frozen=True)
class Surface:
    """One shape placed in the world. `instance` 0 is background."""

    shape: Shape
    pose: Floats
    material: Material
    semantic: int
    instance: int = 0


class Rays(Protocol):
    """Rays through pixels of one camera, in a fixed order."""

    @property
    def camera(self) -> Camera: ...

    @property
    def size(self) -> int: ...

    def select(self, bounds: Bounds) -> Any:
        """The rays through pixels inside (u low, v low, u high, v high); a key for the others."""

    def directions(self, basis: Floats, chosen: Any) -> Floats:
        """`basis` applied to the chosen rays in camera axes, (3, n), of depth 1."""

    def keep(self, buffer: NDArray[Any], values: object, chosen: Any, where: Any) -> None:
        """Write values into the buffer (size,) for those of the chosen rays that `where` marks."""

    def read(self, buffer: NDArray[Any], chosen: Any) -> NDArray[Any]:
        """The buffer's entries for the chosen rays."""


@dataclass(frozen=True)
class PixelGrid:
    """All pixels of an image in row order; a choice is a window, so nothing is gathered."""

    camera: Camera

    @property
    def size(self) -> int:
        return self.camera.width * self.camera.height

    @cached_property
    def _axes(self) -> tuple[Floats, Floats]:
        camera, k = self.camera, self.camera.intrinsics
        columns, rows = np.arange(camera.width, dtype=float), np.arange(camera.height, dtype=float)
        return (columns - k.cx) / k.fx, (rows - k.cy) / k.fy

    def pixels(self, indices: Indices) -> tuple[Floats, Floats]:
        """Columns and rows of the rays with these indices."""
        v, u = np.divmod(indices, self.camera.width)
        return u.astype(float), v.astype(float)

    def select(self, bounds: Bounds) -> tuple[slice, slice]:
        u_low, v_low, u_high, v_high = bounds
        width, height = self.camera.width, self.camera.height
        return _window(v_low, v_high, height), _window(u_low, u_high, width)

    def directions(self, basis: Floats, chosen: tuple[slice, slice]) -> Floats:
        rows, columns = chosen
        x, y = self._axes[0][columns], self._axes[1][rows]
        result = np.empty((3, y.size, x.size))
        for row, out in zip(basis, result, strict=True):
            np.add((row[1] * y)[:, None], row[0] * x + row[2], out=out)
        return result.reshape(3, -1)

    def keep(
        self, buffer: NDArray[Any], values: object, chosen: tuple[slice, slice], where: Any
    ) -> None:
        window = buffer.reshape(self.camera.height, self.camera.width)[chosen]
        values = np.asarray(values, buffer.dtype)
        shaped = values.reshape(window.shape) if values.ndim else values
        np.copyto(window, shaped, where=where.reshape(window.shape))

    def read(self, buffer: NDArray[Any], chosen: tuple[slice, slice]) -> NDArray[Any]:
        return buffer.reshape(self.camera.height, self.camera.width)[chosen].ravel()


def _window(low: float, high: float, size: int) -> slice:
    """The whole pixels between two bounds, cut to the image."""
    return slice(int(np.clip(np.ceil(low), 0, size)), int(np.clip(high + 1, 0, size)))


@dataclass(frozen=True)
class PixelList:
    """Any pixels, between the image's own too."""

    camera: Camera
    u: Floats
    v: Floats

    @property
    def size(self) -> int:
        return self.u.size

    def select(self, bounds: Bounds) -> Indices:
        u_low, v_low, u_high, v_high = bounds
        inside = (self.u >= u_low) & (self.u <= u_high)
        inside &= (self.v >= v_low) & (self.v <= v_high)
        return np.flatnonzero(inside)

    def directions(self, basis: Floats, chosen: Indices) -> Floats:
        k = self.camera.intrinsics
        x, y = (self.u[chosen] - k.cx) / k.fx, (self.v[chosen] - k.cy) / k.fy
        return np.stack([row[0] * x + row[1] * y + row[2] for row in basis])

    def keep(self, buffer: NDArray[Any], values: object, chosen: Indices, where: Any) -> None:
        values = np.asarray(values)
        buffer[chosen[where]] = values[where] if values.ndim else values

    def read(self, buffer: NDArray[Any], chosen: Indices) -> NDArray[Any]:
        return np.asarray(buffer[chosen])


@dataclass(frozen=True)
class Hits:
    """What each ray meets: z-depth, and the index of the surface, -1 where there is none."""

    depth: Floats
    surface: NDArray[np.int16]


def cast(surfaces: Sequence[Surface], rays: Rays) -> Hits:
    """The first surface along every ray."""
    camera = rays.camera
    depth = np.full(rays.size, np.inf)
    owner = np.full(rays.size, -1, dtype=np.int16)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for index, bounds in enumerate(_image_bounds(surfaces, camera)):
            chosen = rays.select(bounds)
            surface = surfaces[index]
            axes = surface.pose[:3, :3].T
            directions = rays.directions(axes @ camera.pose[:3, :3], chosen)
            if directions.size == 0:
                continue
            origin = axes @ (camera.origin - surface.pose[:3, 3])
            distance = surface.shape.intersect(origin, directions)
            nearer = distance < rays.read(depth, chosen)
            rays.keep(depth, distance, chosen, nearer)
            rays.keep(owner, index, chosen, nearer)
    return Hits(depth, owner)


def points_at(hits: Hits, rays: Rays) -> Floats:
    """World points (3, n) where the rays end."""
    directions = rays.directions(rays.camera.pose[:3, :3], rays.select(_EVERYWHERE))
    return rays.camera.origin[:, None] + hits.depth * directions


def rotate(basis: NDArray[Scalar], vectors: NDArray[Scalar]) -> NDArray[Scalar]:
    """`basis` (3, 3) times vectors (3, n): faster here than a matrix product of that shape."""
    x, y, z = vectors
    return np.stack([row[0] * x + row[1] * y + row[2] * z for row in basis])


_EVERYWHERE: Bounds = (-np.inf, -np.inf, np.inf, np.inf)


def _image_bounds(surfaces: Sequence[Surface], camera: Camera) -> list[Bounds]:
    """Where in the image each surface can be; everywhere for one that is close or unbounded."""
    corners = np.array([_corners(surface.shape) for surface in surfaces])
    poses = np.array([surface.pose for surface in surfaces])
    world = np.einsum("sij,sjn->isn", poses[:, :3, :3], corners) + poses[:, :3, 3].T[:, :, None]
    u, v, z = (axis.reshape(-1, 8) for axis in camera.project(world.reshape(3, -1)))
    boxes = np.stack([u.min(axis=1), v.min(axis=1), u.max(axis=1), v.max(axis=1)], axis=1)
    anywhere = z.min(axis=1) < _NEAREST_BOUNDED_M
    anywhere |= np.array([surface.shape.extent is None for surface in surfaces])
    boxes[anywhere] = _EVERYWHERE
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in boxes]


def _corners(shape: Shape) -> Floats:
    extent = shape.extent
    if extent is None:
        return np.zeros((3, 8))
    choice = np.indices((2, 2, 2)).reshape(3, 8)
    return np.where(choice == 0, extent[0][:, None], extent[1][:, None]).astype(np.float64)
