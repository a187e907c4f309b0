"""The things on the table: eight categories in nameable colours, each built from few shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rpx_core.demo.camera import Floats
from rpx_core.demo.raycast import Colour, Material
from rpx_core.demo.shapes import Box, Disc, Frustum, Shape, Sphere
from rpx_core.demo.textures import TEXELS, Finish

COLOURS: dict[str, Colour] = {
    "red": (0.80, 0.13, 0.11),
    "green": (0.16, 0.56, 0.22),
    "blue": (0.12, 0.27, 0.74),
    "yellow": (0.95, 0.80, 0.13),
    "orange": (0.94, 0.45, 0.08),
    "purple": (0.45, 0.19, 0.60),
    "pink": (0.95, 0.50, 0.67),
    "white": (0.92, 0.91, 0.88),
    "black": (0.07, 0.07, 0.08),
}
_PALE: Colour = (0.93, 0.90, 0.82)
_DARK: Colour = (0.13, 0.12, 0.13)
_METAL: Colour = (0.70, 0.71, 0.73)
_COFFEE: Colour = (0.10, 0.05, 0.03)


@dataclass(frozen=True)
class Part:
    """A shape of an object, placed in the object's frame."""

    shape: Shape
    material: Material
    pose: Floats


@dataclass(frozen=True)
class Thing:
    """An object that stands on z = 0 of its own frame, inside a footprint circle.

    `grip` is its width between the fingers of a gripper, along x; 0 for what is not grasped.
    """

    category: str
    colour: str
    parts: tuple[Part, ...]
    footprint: float
    height: float
    grip: float = 0.0


@dataclass(frozen=True)
class _Body:
    parts: tuple[Part, ...]
    footprint: float
    height: float
    grip: float = 0.0


@dataclass(frozen=True)
class _Paint:
    colour: Colour
    mark: Colour
    shift: float

    def hushed(self) -> _Paint:
        """The same colour with a mark closer to it, for prints all over a surface."""
        red, green, blue = ((c + m) / 2 for c, m in zip(self.colour, self.mark, strict=True))
        return _Paint(self.colour, (red, green, blue), self.shift)

    def __call__(self, finish: Finish, gloss: float = 0.0, rise: float = 0.0) -> Material:
        """A material; `rise` moves the texture up, for the finishes with level bands."""
        return Material(
            self.colour, self.mark, finish, shift=(self.shift, -rise * 1000), gloss=gloss
        )


CATEGORIES: dict[str, tuple[str, ...]] = {
    "ball": ("red", "green", "blue", "orange", "yellow", "purple"),
    "mug": ("red", "white", "blue", "black", "yellow", "green"),
    "can": ("yellow", "red", "green", "purple", "blue"),
    "bottle": ("orange", "green", "white", "blue", "pink"),
    "bowl": ("white", "blue", "pink", "green", "orange"),
    "box": ("blue", "red", "yellow", "purple", "white"),
    "book": ("green", "red", "blue", "black", "purple"),
    "cone": ("orange", "yellow", "red", "pink"),
}


def build_thing(category: str, colour: str, rng: np.random.Generator) -> Thing:
    """An object of the category, a little different in size and print every time."""
    makers: dict[str, Callable[[_Paint, float], _Body]] = {
        "ball": _ball,
        "mug": _mug,
        "can": _can,
        "bottle": _bottle,
        "bowl": _bowl,
        "box": _box,
        "book": _book,
        "cone": _cone,
    }
    mark = _DARK if colour in ("white", "yellow", "pink", "orange") else _PALE
    paint = _Paint(COLOURS[colour], mark, float(rng.integers(TEXELS)))
    body = makers[category](paint, rng.uniform(0.92, 1.1))
    return Thing(category, colour, body.parts, body.footprint, body.height, body.grip)


def placed(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Floats:
    """A pose without rotation."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def _ball(paint: _Paint, scale: float) -> _Body:
    radius = 0.05 * scale
    skin = paint(Finish.PATCHES, gloss=0.25)
    return _Body((Part(Sphere(radius), skin, placed(z=radius)),), radius, 2 * radius, 2 * radius)


def _mug(paint: _Paint, scale: float) -> _Body:
    radius, height, handle = 0.042 * scale, 0.1 * scale, 0.03 * scale
    glaze = paint.hushed()(Finish.DOTS, gloss=0.35)
    plain = paint(Finish.PLAIN, gloss=0.35)
    coffee = Material(_COFFEE, _COFFEE, Finish.PLAIN, gloss=0.2)
    # The handle is a ring across the body; its own z axis is the body's y axis.
    ring = placed(radius + 0.3 * handle, -0.006, 0.52 * height)
    ring[:3, :3] = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    parts = (
        Part(Frustum(0.93 * radius, radius, height), glaze, placed()),
        Part(Disc(radius, 0.87 * height), coffee, placed()),
        Part(Frustum(handle, handle, 0.012), plain, ring),
        Part(Frustum(0.68 * handle, 0.68 * handle, 0.012), plain, ring),
        Part(Disc(handle, 0.0, 0.68 * handle), plain, ring),
        Part(Disc(handle, 0.012, 0.68 * handle), plain, ring),
    )
    return _Body(parts, radius + 1.3 * handle, height, 2 * radius)


def _can(paint: _Paint, scale: float) -> _Body:
    radius, height = 0.035 * scale, 0.12 * scale
    metal = Material(_METAL, _DARK, Finish.PLAIN, gloss=0.3)
    parts = (
        Part(Frustum(radius, radius, height), paint(Finish.LABEL, gloss=0.2), placed()),
        Part(Disc(radius, 0.97 * height), metal, placed()),
    )
    return _Body(parts, radius, height, 2 * radius)


def _bottle(paint: _Paint, scale: float) -> _Body:
    radius, body = 0.036 * scale, 0.125 * scale
    neck, shoulder, top = 0.013 * scale, 0.045 * scale, 0.03 * scale
    plain = paint(Finish.PLAIN, gloss=0.4)
    lid = Material(_DARK, _PALE, Finish.PLAIN, gloss=0.2)
    parts = (
        Part(Frustum(radius, radius, body), paint(Finish.LABEL, gloss=0.3), placed()),
        Part(Frustum(radius, neck, shoulder), plain, placed(z=body)),
        Part(Frustum(neck, neck, top), lid, placed(z=body + shoulder)),
        Part(Disc(neck, 0.0), lid, placed(z=body + shoulder + top)),
    )
    return _Body(parts, radius, body + shoulder + top, 2 * radius)


def _bowl(paint: _Paint, scale: float) -> _Body:
    radius, height, foot = 0.085 * scale, 0.06 * scale, 0.006
    glaze = paint.hushed()(Finish.BLOTCHES, gloss=0.3)
    # The rim lies below the equator, so the footprint is the circle at the rim.
    rim = height - radius
    parts = (
        Part(Sphere(radius, rim), glaze, placed(z=radius + foot)),
        Part(Frustum(0.035, 0.03, 2 * foot), paint(Finish.PLAIN), placed()),
    )
    return _Body(parts, float(np.sqrt(radius**2 - rim**2)), height + foot)


def _box(paint: _Paint, scale: float) -> _Body:
    x, y, z = 0.055 * scale, 0.04 * scale, 0.13 * scale
    carton = paint(Finish.LABEL, rise=0.012)
    return _Body((Part(Box((-x, -y, 0), (x, y, z)), carton, placed()),), float(np.hypot(x, y)), z)


def _book(paint: _Paint, scale: float) -> _Body:
    x, y, z = 0.085 * scale, 0.06 * scale, 0.032 * scale
    pages = Material(_PALE, _DARK, Finish.PLAIN)
    cover = paint.hushed()(Finish.ART, gloss=0.1)
    parts = (
        Part(Box((-x, -y, 0), (x, y, 0.004)), cover, placed()),
        Part(Box((-x + 0.004, -y + 0.004, 0.004), (x - 0.004, y, z - 0.004)), pages, placed()),
        Part(Box((-x, -y, z - 0.004), (x, y, z)), cover, placed()),
    )
    return _Body(parts, float(np.hypot(x, y)), z)


def _cone(paint: _Paint, scale: float) -> _Body:
    radius, height, side, base = 0.05 * scale, 0.15 * scale, 0.06 * scale, 0.012
    parts = (
        Part(Box((-side, -side, 0), (side, side, base)), paint(Finish.PLAIN), placed()),
        Part(Frustum(radius, 0.012, height), paint(Finish.STRIPES), placed(z=base)),
        Part(Disc(0.012, 0.0), paint(Finish.PLAIN), placed(z=base + height)),
    )
    return _Body(parts, float(np.sqrt(2)) * side, height + base, 0.05)
