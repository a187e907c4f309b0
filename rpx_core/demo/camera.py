"""The pinhole camera of the demo and the hand-held path it takes round the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Intrinsics:
    """Focal lengths and principal point in pixels, pixel centres at integers."""

    fx: float
    fy: float
    cx: float
    cy: float


@dataclass(frozen=True)
class Camera:
    """A pinhole with OpenCV axes at `pose` (4, 4), camera to world."""

    intrinsics: Intrinsics
    pose: Floats
    width: int
    height: int

    @property
    def origin(self) -> Floats:
        return self.pose[:3, 3]

    def directions(self, u: Floats, v: Floats) -> Floats:
        """World directions (3, n) of depth 1, so that a ray parameter is a z-depth."""
        k = self.intrinsics
        x, y = (u - k.cx) / k.fx, (v - k.cy) / k.fy
        rotation = self.pose[:3, :3]
        return np.stack([row[0] * x + row[1] * y + row[2] for row in rotation])

    def project(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Pixel columns, rows and depths of world points (3, n)."""
        x, y, z = self.pose[:3, :3].T @ (points - self.origin[:, None])
        k = self.intrinsics
        return k.fx * x / z + k.cx, k.fy * y / z + k.cy, z


@dataclass(frozen=True)
class Orbit:
    """How far the camera stands off and how fast it goes, in metres and radians."""

    distance: float
    elevation: float
    step: float
    shake: float
    azimuth: float = 0.0


def walk(orbit: Orbit, target: Floats, frames: int, rng: np.random.Generator) -> list[Floats]:
    """Poses along an arc about the target, with the slow sway of a hand."""
    sway = rng.uniform(0, 2 * np.pi, (6, 1)) + rng.uniform(0.5, 0.95, (6, 1)) * np.arange(frames)
    sway = np.sin(sway) * orbit.shake
    bearing = orbit.azimuth + orbit.step * (np.arange(frames) - (frames - 1) / 2)
    poses = []
    for frame in range(frames):
        azimuth = bearing[frame] + 0.3 * sway[0, frame]
        elevation = orbit.elevation + 0.5 * sway[1, frame]
        distance = orbit.distance * (1 + 0.7 * sway[2, frame])
        ground = distance * np.cos(elevation)
        offset = [ground * np.sin(azimuth), -ground * np.cos(azimuth)]
        position = target + np.array([*offset, distance * np.sin(elevation)])
        gaze = target + np.array([0.5 * sway[3, frame], 0.5 * sway[4, frame], 0.0])
        poses.append(look_at(position, gaze, roll=sway[5, frame]))
    return poses


def look_at(position: Floats, target: Floats, roll: float = 0.0) -> Floats:
    """The camera-to-world pose that looks at the target with the horizon level, then rolled."""
    forward = (target - position) / np.linalg.norm(target - position)
    right = np.cross(forward, np.array([0.0, 0.0, 1.0]))
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    pose = np.eye(4)
    pose[:3, 0] = np.cos(roll) * right + np.sin(roll) * down
    pose[:3, 1] = np.cos(roll) * down - np.sin(roll) * right
    pose[:3, 2] = forward
    pose[:3, 3] = position
    return pose


def quaternion_xyzw(rotation: Floats) -> Floats:
    """The unit quaternion of a rotation matrix, with w >= 0."""
    # The eigenvector form has no division by a component that may be zero.
    m = rotation
    symmetric = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], 0, 0, 0],
            [m[1, 0] + m[0, 1], m[1, 1] - m[0, 0] - m[2, 2], 0, 0],
            [m[2, 0] + m[0, 2], m[2, 1] + m[1, 2], m[2, 2] - m[0, 0] - m[1, 1], 0],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], np.trace(m)],
        ]
    )
    _, vectors = np.linalg.eigh(symmetric)
    quaternion = vectors[:, -1]
    return np.asarray(quaternion if quaternion[3] >= 0 else -quaternion)
