"""One sequence of the demo: six instants of a scene in a phase, seen by a moving camera."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rpx_core.demo.actors import FRAMES, Actor
from rpx_core.demo.camera import Camera, Floats, Intrinsics, walk
from rpx_core.demo.layout import ScenePlan, arrange, random_stream, stage
from rpx_core.demo.raycast import PixelGrid, cast
from rpx_core.demo.room import TABLE_HALF_X, TABLE_HALF_Y, TABLE_LEVEL, UNLABELLED
from rpx_core.demo.sensor import FAR_M, measure_depth
from rpx_core.demo.shading import Picture, ShadowMap, cast_shadows, render
from rpx_core.demo.tracks import View

WIDTH, HEIGHT = 320, 240
# Off-centre and not quite square, so that swapped or forgotten parameters show.
INTRINSICS = Intrinsics(fx=308.2, fy=307.6, cx=161.3, cy=118.8)
_GRAIN = 2.0


@dataclass(frozen=True)
class Images:
    """The four pictures of a frame: RGB, depth in mm, instance ids, class ids."""

    rgb: NDArray[np.uint8]
    depth: NDArray[np.uint16]
    instances: NDArray[np.uint16]
    semantic: NDArray[np.uint8]


@dataclass(frozen=True)
class Recording:
    """All instants of a sequence, in frame order."""

    plan: ScenePlan
    phase: int
    actors: tuple[Actor, ...]
    views: tuple[View, ...]


def record(plan: ScenePlan, phase: int) -> Recording:
    """Arrange the scene, walk the camera round it, and see what every pixel sees."""
    actors = arrange(plan, phase)
    poses = _camera_path(plan, phase)
    views = []
    for frame in range(FRAMES):
        rays = PixelGrid(Camera(INTRINSICS, poses[frame], WIDTH, HEIGHT))
        surfaces = stage(plan, actors, frame)
        views.append(View(surfaces, rays, cast(surfaces, rays)))
    return Recording(plan, phase, actors, tuple(views))


def cast_light(recording: Recording) -> list[ShadowMap]:
    """The table's shadows per frame; a still scene keeps those of its first frame."""
    top = (TABLE_HALF_X, TABLE_HALF_Y, TABLE_LEVEL)
    lighting = recording.plan.lighting
    if not any(actor.is_moving for actor in recording.actors):
        return [cast_shadows(recording.views[0].surfaces, lighting, top)] * FRAMES
    return [cast_shadows(view.surfaces, lighting, top) for view in recording.views]


def develop(view: View, picture: Picture, rng: np.random.Generator) -> Images:
    """The images of one instant."""
    colour = render(picture, view.rays, view.hits)
    owner = view.hits.surface.reshape(HEIGHT, WIDTH)
    depth = view.hits.depth.reshape(HEIGHT, WIDTH)
    instances = np.array([surface.instance for surface in view.surfaces], np.uint16)
    semantic = np.array([surface.semantic for surface in view.surfaces], np.uint8)
    grain = rng.integers(0, 256, colour.shape, np.uint8) * np.float32(2 * _GRAIN / 255)
    return Images(
        rgb=np.clip(255 * colour + (grain + np.float32(0.5 - _GRAIN)), 0, 255).astype(np.uint8),
        depth=measure_depth(view, colour),
        instances=instances[owner],
        semantic=np.where(depth > FAR_M, UNLABELLED, semantic[owner]).astype(np.uint8),
    )


def _camera_path(plan: ScenePlan, phase: int) -> list[Floats]:
    """Every phase is filmed on its own arc, now to the left, now to the right."""
    rng = random_stream(plan.index, 20 + phase)
    orbit = plan.level.orbit
    orbit = replace(
        orbit,
        distance=orbit.distance * rng.uniform(0.95, 1.05),
        azimuth=rng.uniform(-0.3, 0.3),
        step=orbit.step * float(rng.choice([-1.0, 1.0])),
    )
    target = np.array([0.0, 0.02, TABLE_LEVEL + 0.05])
    return walk(orbit, target, FRAMES, rng)
