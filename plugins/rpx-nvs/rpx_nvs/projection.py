"""Where the surface points of one view appear in another.

Camera axes are OpenCV's (x right, y down, z forward), poses camera-to-world in metres, depth is z,
pixel centres lie at integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.warp import is_measured
from rpx_nvs.types import Matrix

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Camera:
    """A pinhole camera: 3x3 intrinsics and 4x4 camera-to-world pose."""

    intrinsics: Matrix
    pose: Matrix


@dataclass(frozen=True)
class Projected:
    """Points in another view, one entry each: column and row (px), depth there (m, positive).

    `origin` is the flat index of the pixel that each comes from.
    """

    column: Vector
    row: Vector
    depth: Vector
    origin: Indices


def project(depth: NDArray[np.floating], source: Camera, target: Camera) -> Projected:
    """Every measured pixel of a depth map (H, W), as the target camera sees its surface point.

    Points at or behind the target camera's plane are left out; those beside its image are not.
    Raises `numpy.linalg.LinAlgError` for a singular camera, which loading has excluded.
    """
    origin = np.flatnonzero(is_measured(depth))
    rows, columns = np.divmod(origin, depth.shape[1])
    motion = np.linalg.inv(target.pose) @ source.pose
    rays = target.intrinsics @ motion[:3, :3] @ np.linalg.inv(source.intrinsics)
    shift = target.intrinsics @ motion[:3, 3]
    distance = depth.reshape(-1)[origin].astype(np.float64)
    x, y, z = (
        distance * (ray[0] * columns + ray[1] * rows + ray[2]) + offset
        for ray, offset in zip(rays, shift, strict=True)
    )
    # Tinier depths overflow the division.
    ahead = z > np.finfo(np.float32).tiny
    z = z[ahead]
    return Projected(x[ahead] / z, y[ahead] / z, z, origin[ahead])
