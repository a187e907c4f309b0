"""The static background: floor, walls with a doorway and pictures, a cabinet, the table."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from rpx_core.demo.camera import Floats
from rpx_core.demo.catalogue import CATEGORIES, placed
from rpx_core.demo.raycast import Colour, Material, Surface
from rpx_core.demo.shapes import Box, Frustum, Plane, Shape
from rpx_core.demo.textures import TEXELS, Finish

Choice = TypeVar("Choice")

CLASSES: tuple[str, ...] = ("unlabelled", "wall", "floor", "table", "cabinet", *CATEGORIES)
UNLABELLED, WALL, FLOOR, TABLE, CABINET = range(5)

TABLE_HALF_X, TABLE_HALF_Y, TABLE_LEVEL = 0.52, 0.37, 0.74

_WALLS: tuple[Colour, ...] = (
    (0.78, 0.75, 0.68),
    (0.62, 0.70, 0.72),
    (0.72, 0.74, 0.66),
    (0.76, 0.69, 0.66),
)
_WOODS: tuple[tuple[Colour, Colour], ...] = (
    ((0.72, 0.54, 0.36), (0.48, 0.31, 0.18)),
    ((0.80, 0.68, 0.52), (0.62, 0.47, 0.32)),
    ((0.55, 0.38, 0.26), (0.34, 0.21, 0.13)),
)
_PRINTS: tuple[tuple[Colour, Colour], ...] = (
    ((0.16, 0.30, 0.38), (0.92, 0.80, 0.58)),
    ((0.55, 0.20, 0.16), (0.94, 0.90, 0.80)),
    ((0.20, 0.34, 0.22), (0.90, 0.88, 0.72)),
)
_STEEL = Material((0.30, 0.31, 0.33), (0.52, 0.53, 0.55), Finish.PLAIN, gloss=0.15)


def build_room(rng: np.random.Generator) -> list[Surface]:
    """The background of a scene, the table top first."""
    back = rng.uniform(1.35, 1.75)
    door = rng.uniform(0.35, 1.0) * rng.choice([-1.0, 1.0])
    wall = _pick(rng, _WALLS)
    plaster = Material(wall, _shade(wall, 0.82), Finish.PLASTER, 160, _shift(rng))
    corridor = Material(_shade(wall, 0.9), _shade(wall, 0.6), Finish.ART, 100, _shift(rng))
    light, dark = _pick(rng, _WOODS)
    boards = Material(light, dark, Finish.PLANKS, 170, _shift(rng))
    opening = ((door - 0.26, door + 0.26), (-1.0, 2.0))
    return [
        _table_top(rng),
        *_table_legs(),
        _background(Plane(2, 0.0), boards, FLOOR),
        _background(Plane(1, back, opening), plaster, WALL),
        _background(Plane(0, -2.3), plaster, WALL),
        _background(Plane(0, 2.3), plaster, WALL),
        _background(Plane(1, back + 2.8), corridor, WALL),
        *_furniture(rng, back, door),
    ]


def build_gripper(width: float, height: float) -> list[tuple[Shape, Material, Floats]]:
    """A two-finger gripper about an object of that width and height, in the object's frame."""
    half, top = width / 2 + 0.004, height + 0.03
    low = 0.45 * height
    fingers = (
        Box((-half - 0.012, -0.012, low), (-half, 0.012, top)),
        Box((half, -0.012, low), (half + 0.012, 0.012, top)),
    )
    palm = Box((-half - 0.02, -0.025, top), (half + 0.02, 0.025, top + 0.035))
    arm = Frustum(0.022, 0.03, 0.7)
    shapes: list[tuple[Shape, Floats]] = [(finger, placed()) for finger in fingers]
    shapes += [(palm, placed()), (arm, placed(z=top + 0.03))]
    return [(shape, _STEEL, pose) for shape, pose in shapes]


def _table_top(rng: np.random.Generator) -> Surface:
    light, dark = _pick(rng, _WOODS)
    low = (-TABLE_HALF_X, -TABLE_HALF_Y, TABLE_LEVEL - 0.03)
    high = (TABLE_HALF_X, TABLE_HALF_Y, TABLE_LEVEL)
    wood = Material(light, dark, Finish.WOOD, 400, _shift(rng))
    return _background(Box(low, high), wood, TABLE)


def _table_legs() -> list[Surface]:
    wood = Material((0.36, 0.33, 0.30), (0.22, 0.20, 0.18), Finish.BLOTCHES, 300)
    legs = []
    for x in (-TABLE_HALF_X + 0.05, TABLE_HALF_X - 0.05):
        for y in (-TABLE_HALF_Y + 0.05, TABLE_HALF_Y - 0.05):
            leg = Box((x - 0.025, y - 0.025, 0.0), (x + 0.025, y + 0.025, TABLE_LEVEL - 0.03))
            legs.append(_background(leg, wood, TABLE))
    return legs


def _furniture(rng: np.random.Generator, back: float, door: float) -> list[Surface]:
    """Pictures on the wall and a cabinet, on the side where the door is not."""
    side = -np.sign(door)
    light, dark = _pick(rng, _WOODS)
    wood = Material(light, dark, Finish.WOOD, 300, _shift(rng))
    centre = side * rng.uniform(0.65, 1.0)
    height = rng.uniform(0.45, 0.75)
    cabinet = Box((centre - 0.4, back - 0.35, 0.0), (centre + 0.4, back, height))
    surfaces = [_background(cabinet, wood, CABINET)]
    for x in (side * rng.uniform(0.1, 0.3), side * rng.uniform(0.95, 1.2)):
        base, mark = _pick(rng, _PRINTS)
        half, low = rng.uniform(0.2, 0.27), rng.uniform(0.62, 0.72)
        picture = Box((x - half, back - 0.02, low), (x + half, back, low + 0.5))
        print_ = Material(base, mark, Finish.ART, 330, _shift(rng))
        surfaces.append(_background(picture, print_, WALL))
    return surfaces


def _background(shape: Shape, material: Material, semantic: int) -> Surface:
    return Surface(shape, placed(), material, semantic)


def _pick(rng: np.random.Generator, options: tuple[Choice, ...]) -> Choice:
    return options[int(rng.integers(len(options)))]


def _shift(rng: np.random.Generator) -> tuple[float, float]:
    u, v = rng.integers(TEXELS, size=2)
    return float(u), float(v)


def _shade(colour: Colour, factor: float) -> Colour:
    red, green, blue = (factor * channel for channel in colour)
    return red, green, blue
