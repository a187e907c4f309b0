"""Analytic ray intersections with the few solids that the demo scenes are made of.

Every shape lives in its own frame, z up. Rays come as one origin (3,) and directions (3, n); a
distance is the ray parameter, infinite where the ray misses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
"""Double precision where geometry is decided, single where it is only coloured."""

_NEAR = 1e-9


class Shape(Protocol):
    """A surface with an axis-aligned extent, a first hit, a normal and a texture coordinate."""

    @property
    def extent(self) -> tuple[Floats, Floats] | None:
        """Lowest and highest corner; None for an unbounded surface."""

    def intersect(self, origin: Floats, directions: Floats) -> Floats:
        """Distance to the first hit in front of the origin."""

    def surface(self, points: Floats) -> tuple[Floats, Floats]:
        """Normals (3, n), of either sign, and texture coordinates (2, n) in metres."""


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere about the origin, open above `rim`: a ball, or with a low rim a bowl."""

    radius: float
    rim: float = np.inf

    @property
    def extent(self) -> tuple[Floats, Floats]:
        high = np.full(3, self.radius)
        high[2] = min(self.rim, self.radius)
        return np.full(3, -self.radius), high

    def intersect(self, origin: Floats, directions: Floats) -> Floats:
        quadratic = np.einsum("in,in->n", directions, directions)
        linear = origin @ directions
        near, far = _roots(quadratic, linear, float(origin @ origin) - self.radius**2)
        if self.rim >= self.radius:
            return near
        return _first_between(origin[2], directions[2], (near, far), (-np.inf, self.rim))

    def surface(self, points: Floats) -> tuple[Floats, Floats]:
        normals = points / self.radius
        latitude = np.arcsin(np.clip(normals[2], -1.0, 1.0))
        longitude = np.arctan2(points[1], points[0])
        return normals, self.radius * np.stack([longitude, latitude])


@dataclass(frozen=True, slots=True)
class Frustum:
    """The open side of a cylinder or cone that stands on the plane z = 0, seen from both sides."""

    bottom: float
    top: float
    height: float

    @property
    def extent(self) -> tuple[Floats, Floats]:
        radius = max(self.bottom, self.top)
        return np.array([-radius, -radius, 0.0]), np.array([radius, radius, self.height])

    @property
    def _slope(self) -> float:
        return (self.top - self.bottom) / self.height

    def intersect(self, origin: Floats, directions: Floats) -> Floats:
        x, y, z = directions
        radius = self.bottom + self._slope * origin[2]
        quadratic = x * x + y * y - (self._slope * z) ** 2
        linear = origin[0] * x + origin[1] * y - (self._slope * radius) * z
        roots = _roots(quadratic, linear, origin[0] ** 2 + origin[1] ** 2 - radius**2)
        return _first_between(origin[2], z, roots, (0.0, self.height))

    def surface(self, points: Floats) -> tuple[Floats, Floats]:
        x, y, z = points
        radius = np.hypot(x, y)
        normals = np.stack([x, y, -self._slope * radius])
        normals /= np.maximum(radius * float(np.hypot(1.0, self._slope)), _NEAR)
        around = np.arctan2(y, x) * max(self.bottom, self.top)
        return normals, np.stack([around, z])


@dataclass(frozen=True, slots=True)
class Disc:
    """A flat ring, or with `inner` 0 a disc, in the plane z = `height`."""

    radius: float
    height: float
    inner: float = 0.0

    @property
    def extent(self) -> tuple[Floats, Floats]:
        corner = np.array([self.radius, self.radius, 0.0])
        level = np.array([0.0, 0.0, self.height])
        return level - corner, level + corner

    def intersect(self, origin: Floats, directions: Floats) -> Floats:
        distance = (self.height - origin[2]) / directions[2]
        squared = (origin[0] + distance * directions[0]) ** 2
        squared += (origin[1] + distance * directions[1]) ** 2
        hit = (squared <= self.radius**2) & (squared >= self.inner**2) & (distance > _NEAR)
        return np.where(hit, distance, np.inf)

    def surface(self, points: Floats) -> tuple[Floats, Floats]:
        normals = np.zeros_like(points)
        normals[2] = 1.0
        return normals, points[:2].copy()


@dataclass(frozen=True, slots=True)
class Box:
    """A cuboid given by its lowest and highest corner."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    @property
    def extent(self) -> tuple[Floats, Floats]:
        return np.array(self.low), np.array(self.high)

    def intersect(self, origin: Floats, directions: Floats) -> Floats:
        near = np.full(directions.shape[1], -np.inf)
        far = np.full(directions.shape[1], np.inf)
        for low, high, start, slope in zip(self.low, self.high, origin, directions, strict=True):
            inverse = 1.0 / slope
            first, second = (low - start) * inverse, (high - start) * inverse
            np.maximum(near, np.minimum(first, second), out=near)
            np.minimum(far, np.maximum(first, second), out=far)
        return np.where((near <= far) & (near > _NEAR), near, np.inf)

    def surface(self, points: Floats) -> tuple[Floats, Floats]:
        low, high = (np.array(corner, points.dtype)[:, None] for corner in (self.low, self.high))
        offset = points - (low + high) / 2
        x, y, z = np.abs(offset) - (high - low) / 2
        across, flat = (x > y) & (x > z), (z >= x) & (z >= y)
        normals = np.zeros_like(points)
        for row, face, way in zip(normals, (across, ~(across | flat), flat), offset, strict=True):
            np.copyto(row, np.sign(way), where=face)
        # One net for all faces, so that a marking runs over the edges instead of repeating.
        x, y, z = points
        return normals, np.stack([np.where(across, y + 0.31, x), np.where(flat, y + 0.23, z)])


@dataclass(frozen=True, slots=True)
class Plane:
    """An unbounded plane across one axis, with an optional rectangular opening.

    The opening is ((low, high), (low, high)) along the two other axes, in their order.
    """

    axis: int
    offset: float
    opening: tuple[tuple[float, float], tuple[float, float]] | None = None

    @property
    def extent(self) -> None:
        return None

    def intersect(self, origin: Floats, directions: Floats) -> Floats:
        distance: Floats = (self.offset - origin[self.axis]) / directions[self.axis]
        missed = ~(distance > _NEAR)
        if self.opening is not None:
            inside = np.ones_like(missed)
            for other, (low, high) in zip(self._others, self.opening, strict=True):
                at = origin[other] + distance * directions[other]
                inside &= (at > low) & (at < high)
            missed |= inside
        distance[missed] = np.inf
        return distance

    def surface(self, points: Floats) -> tuple[Floats, Floats]:
        normals = np.zeros_like(points)
        normals[self.axis] = 1.0
        return normals, points[list(self._others)]

    @property
    def _others(self) -> tuple[int, int]:
        first, second = (axis for axis in range(3) if axis != self.axis)
        return first, second


def _roots(quadratic: Floats, linear: Floats, constant: float) -> tuple[Floats, Floats]:
    """Both solutions of a t^2 + 2 b t + c = 0 in rising order, infinite where there is none."""
    discriminant = linear * linear - quadratic * constant
    root = np.sqrt(np.where(discriminant > 0, discriminant, np.nan))
    first, second = (-linear - root) / quadratic, (-linear + root) / quadratic
    near, far = np.minimum(first, second), np.maximum(first, second)
    return np.where(near > _NEAR, near, np.inf), np.where(far > _NEAR, far, np.inf)


def _first_between(
    start: float, slope: Floats, roots: tuple[Floats, Floats], limits: tuple[float, float]
) -> Floats:
    """The nearest root whose height lies within the limits."""
    low, high = limits
    result: Floats = np.full_like(slope, np.inf)
    for distance in reversed(roots):
        height = start + distance * slope
        np.copyto(result, distance, where=(height >= low) & (height <= high))
    return result
