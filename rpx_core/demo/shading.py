"""Colour: texture, a lamp with soft shadows, sky light, highlights, and smooth edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.demo.camera import Camera, Floats, Intrinsics
from rpx_core.demo.raycast import (
    Hits,
    Indices,
    PixelGrid,
    PixelList,
    Rays,
    Surface,
    cast,
    points_at,
    rotate,
)
from rpx_core.demo.textures import Atlas, Floats32

_EDGE_CONTRAST = 0.17
_SUBPIXELS = ((-0.375, -0.125), (0.125, -0.375), (0.25, 0.375))


@dataclass(frozen=True)
class Lighting:
    """A lamp over the table. `contrast` scales the textures, `ambient` is the light of the sky."""

    lamp: tuple[float, float, float]
    strength: float
    ambient: float
    warmth: float
    contrast: float


@dataclass(frozen=True)
class ShadowMap:
    """How much of the lamp reaches the table top, on a regular grid of the plane z = `level`."""

    light: Floats32
    origin: tuple[float, float]
    cell: float
    level: float

    def at(self, x: Floats, y: Floats) -> Floats32:
        """Light at table positions, interpolated."""
        rows, columns = self.light.shape
        u = np.clip((x - self.origin[0]) / self.cell, 0, columns - 1.001)
        v = np.clip((y - self.origin[1]) / self.cell, 0, rows - 1.001)
        left, top = u.astype(np.intp), v.astype(np.intp)
        across, down = u - left, v - top
        upper = self.light[top, left] * (1 - across) + self.light[top, left + 1] * across
        lower = self.light[top + 1, left] * (1 - across) + self.light[top + 1, left + 1] * across
        return np.asarray(upper * (1 - down) + lower * down, np.float32)


@dataclass(frozen=True)
class Picture:
    """Everything that colours one instant of a scene; surface 0 is the table top."""

    surfaces: Sequence[Surface]
    atlas: Atlas
    lighting: Lighting
    shadows: ShadowMap


def cast_shadows(
    surfaces: Sequence[Surface], lighting: Lighting, top: tuple[float, float, float]
) -> ShadowMap:
    """Shadows on a table top of half sizes and height `top`.

    The lamp is a camera whose image plane is the table, so the same ray caster answers.
    """
    half_x, half_y, level = top
    cell = 0.006
    columns, rows = int(2 * half_x / cell) + 1, int(2 * half_y / cell) + 1
    x, y, z = lighting.lamp
    height = z - level
    pose = np.eye(4)
    pose[:3, :3] = np.diag([1.0, -1.0, -1.0])
    pose[:3, 3] = lighting.lamp
    focal = height / cell
    intrinsics = Intrinsics(focal, focal, (x + half_x) / cell, (half_y - y) / cell)
    lamp = Camera(intrinsics, pose, columns, rows)
    hits = cast(surfaces, PixelGrid(lamp))
    reached = (hits.depth > height - 1e-6).astype(np.float32).reshape(rows, columns)[::-1]
    soft = _blur(_blur(reached, 3), 3)
    contact = _blur(_blur(reached, 9), 9)
    light = np.ascontiguousarray(0.65 * soft + 0.35 * contact)
    return ShadowMap(light, (-half_x, half_y - (rows - 1) * cell), cell, level)


def render(picture: Picture, view: PixelGrid, hits: Hits) -> Floats32:
    """RGB (height, width, 3) in 0..1, with edges averaged over four rays."""
    colour = shade(picture, view, hits)
    luma = np.array([0.3, 0.6, 0.1], np.float32) @ colour
    chosen = _edges(luma.reshape(view.camera.height, view.camera.width))
    u, v = view.pixels(chosen)
    offsets = np.array(_SUBPIXELS)[:, :, None]
    fine = PixelList(view.camera, (u + offsets[:, 0]).ravel(), (v + offsets[:, 1]).ravel())
    samples = shade(picture, fine, cast(picture.surfaces, fine))
    total = colour[:, chosen] + samples.reshape(3, len(_SUBPIXELS), -1).sum(axis=1)
    colour[:, chosen] = total / (1 + len(_SUBPIXELS))
    return colour.T.reshape(view.camera.height, view.camera.width, 3)


def shade(picture: Picture, rays: Rays, hits: Hits) -> Floats32:
    """RGB (3, n) in 0..1 of the surfaces that the rays meet; every ray must meet one."""
    points = points_at(hits, rays).astype(np.float32)
    normals, texels = _surface_fields(picture.surfaces, points, hits.surface)
    towards_camera = rays.camera.origin.astype(np.float32)[:, None] - points
    facing = np.einsum("in,in->n", normals, towards_camera)
    np.negative(normals, out=normals, where=facing < 0)
    materials = [surface.material for surface in picture.surfaces]
    base = np.array([material.base for material in materials], np.float32).T
    mark = np.array([material.mark for material in materials], np.float32).T
    layers = np.array([material.finish for material in materials], np.intp)
    brightness, marking = picture.atlas.sample(layers.take(hits.surface), *texels)
    contrast = np.float32(picture.lighting.contrast)
    light = (1 + (brightness - 1) * contrast) * _light(picture, points, normals, hits.surface)
    colour = (mark - base).take(hits.surface, axis=1)
    colour *= marking * contrast
    colour += base.take(hits.surface, axis=1)
    colour *= light
    _add_highlights(colour, picture, (points, normals, towards_camera), hits.surface)
    colour *= np.array([[1.0], [0.985], [0.95]], np.float32) ** picture.lighting.warmth
    # A shoulder instead of a hard clip keeps the hue of bright objects.
    bright = colour > 0.8
    colour[bright] = 1 - 0.2 * np.exp((0.8 - colour[bright]) / 0.2)
    return colour


def _edges(luma: Floats32) -> Indices:
    """Flat indices of the pixels that differ much from a neighbour."""
    edge = np.zeros(luma.shape, dtype=bool)
    across = np.abs(np.diff(luma, axis=1)) > _EDGE_CONTRAST
    down = np.abs(np.diff(luma, axis=0)) > _EDGE_CONTRAST
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    edge[1:] |= down
    edge[:-1] |= down
    return np.flatnonzero(edge)


def _surface_fields(
    surfaces: Sequence[Surface], points: Floats32, owner: NDArray[np.int16]
) -> tuple[Floats32, Floats32]:
    """Unit normals (3, n), of either sign, and texel coordinates (2, n)."""
    normals = np.empty_like(points)
    texels = np.empty_like(points[:2])
    counts = np.bincount(owner, minlength=len(surfaces))
    by_surface = np.split(np.argsort(owner, kind="stable"), np.cumsum(counts)[:-1])
    for surface, chosen in zip(surfaces, by_surface, strict=True):
        if chosen.size == 0:
            continue
        material = surface.material
        rotation = surface.pose[:3, :3].astype(np.float32)
        away = points.take(chosen, axis=1) - surface.pose[:3, 3:].astype(np.float32)
        normal, where = surface.shape.surface(rotate(rotation.T, away))
        for target, axis in zip(normals, rotate(rotation, normal), strict=True):
            target[chosen] = axis
        for target, axis, shift in zip(texels, where, material.shift, strict=True):
            target[chosen] = axis * np.float32(material.texels) + np.float32(shift)
    return normals, texels


def _light(
    picture: Picture, points: Floats32, normals: Floats32, owner: NDArray[np.int16]
) -> Floats32:
    """Ambient plus lamp, with the table's shadows and the gloom under the table."""
    lighting, shadows = picture.lighting, picture.shadows
    towards = np.array(lighting.lamp, np.float32)[:, None] - points
    squared = np.einsum("in,in->n", towards, towards)
    facing = np.einsum("in,in->n", towards, normals) / np.sqrt(squared)
    reach = np.float32((lighting.lamp[2] - shadows.level) ** 2) / squared
    direct = np.maximum(facing, 0) * np.clip(reach, 0.3, 1.2) * np.float32(lighting.strength)
    occlusion = np.ones_like(direct)
    table = np.flatnonzero((owner == 0) & (normals[2] > 0.5))
    light = shadows.at(points[0, table], points[1, table])
    direct[table] *= light
    occlusion[table] = 0.45 + 0.55 * light
    height = points[2] - np.float32(shadows.level)
    on_table = np.array([surface.instance > 0 for surface in picture.surfaces])
    resting = np.flatnonzero(on_table.take(owner) & (height < 0.05))
    occlusion[resting] = 0.72 + 0.28 / 0.05 * height[resting]
    below = np.flatnonzero(height < -0.05)
    across, along = (
        np.abs(axis[below]) + np.float32(start)
        for axis, start in zip(points, shadows.origin, strict=False)
    )
    shelter = np.clip(0.5 + 2 * np.maximum(across, along), 0.0, 1.0)
    direct[below] *= 0.25 + 0.75 * shelter
    occlusion[below] = 0.55 + 0.45 * shelter
    sky = np.float32(lighting.ambient) * (0.8 + 0.2 * normals[2])
    return np.asarray(sky * occlusion + direct, np.float32)


def _add_highlights(
    colour: Floats32,
    picture: Picture,
    geometry: tuple[Floats32, Floats32, Floats32],
    owner: NDArray[np.int16],
) -> None:
    """Add the lamp's reflection on glossy surfaces, given points, normals, ways to the camera."""
    gloss = np.array([surface.material.gloss for surface in picture.surfaces], np.float32)
    chosen = np.flatnonzero((gloss > 0).take(owner))
    points, normals, view = (field.take(chosen, axis=1) for field in geometry)
    towards = np.array(picture.lighting.lamp, np.float32)[:, None] - points
    half = towards / _length(towards) + view / _length(view)
    cosine = np.maximum(np.einsum("in,in->n", half, normals) / _length(half), 0)
    shine = gloss.take(owner.take(chosen)) * cosine**40
    for channel in colour:
        channel[chosen] += shine


def _length(vectors: Floats32) -> Floats32:
    return np.asarray(np.sqrt(np.einsum("in,in->n", vectors, vectors)), np.float32)


def _blur(image: NDArray[np.float32], radius: int) -> NDArray[np.float32]:
    """A box average, the border repeated."""
    for axis in (0, 1):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (radius + 1, radius)
        total = np.cumsum(np.pad(image, padding, mode="edge"), axis=axis, dtype=np.float64)
        width = 2 * radius + 1
        upper = np.take(total, np.arange(width, total.shape[axis]), axis=axis)
        lower = np.take(total, np.arange(total.shape[axis] - width), axis=axis)
        image = ((upper - lower) / width).astype(np.float32)
    return image
