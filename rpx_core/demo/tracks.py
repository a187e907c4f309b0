"""Where the surface points of one frame lie in the next, and whether they are seen there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.demo.camera import Camera, Floats
from rpx_core.demo.raycast import Hits, Indices, PixelGrid, PixelList, Surface, cast, points_at

# A surface in front is at least a book cover thick; rounding is twelve orders below.
_SAME_SURFACE_M = 1e-6


@dataclass(frozen=True)
class Correspondences:
    """Pixels (n, 2) in this frame and the next; invisible where hidden or out of the image."""

    points0: Floats
    points1: Floats
    visibility: NDArray[np.bool_]


@dataclass(frozen=True)
class View:
    """One instant: the surfaces, the camera, and what every pixel sees."""

    surfaces: Sequence[Surface]
    rays: PixelGrid
    hits: Hits

    @property
    def camera(self) -> Camera:
        return self.rays.camera


def choose_pixels(view: View, count: int, rng: np.random.Generator) -> Indices:
    """Half on the objects, half on the rest, without repetition, in row order."""
    instances = np.array([surface.instance for surface in view.surfaces])[view.hits.surface]
    on_objects, elsewhere = np.flatnonzero(instances > 0), np.flatnonzero(instances == 0)
    first = rng.choice(on_objects, min(count // 2, on_objects.size), replace=False)
    second = rng.choice(elsewhere, count - first.size, replace=False)
    return np.sort(np.concatenate([first, second]))


def follow(view: View, following: View, chosen: Indices) -> Correspondences:
    """Carry the chosen pixels' surface points along with their bodies into the next frame."""
    owner = view.hits.surface[chosen]
    u0, v0 = view.rays.pixels(chosen)
    start = Hits(view.hits.depth[chosen], owner)
    points = points_at(start, PixelList(view.camera, u0, v0))
    moved = np.empty_like(points)
    for index in np.unique(owner).tolist():
        before, after = view.surfaces[index].pose, following.surfaces[index].pose
        motion = after @ np.linalg.inv(before)
        own = owner == index
        moved[:, own] = motion[:3, :3] @ points[:, own] + motion[:3, 3:]
    u, v, z = following.camera.project(moved)
    seen = cast(following.surfaces, PixelList(following.camera, u, v))
    inside = (z > 0) & (u >= 0) & (v >= 0)
    inside &= (u <= following.camera.width - 1) & (v <= following.camera.height - 1)
    return Correspondences(
        np.stack([u0, v0], axis=1),
        np.stack([u, v], axis=1),
        inside & (np.abs(seen.depth - z) < _SAME_SURFACE_M),
    )
