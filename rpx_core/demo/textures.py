"""Procedural, tileable textures: a brightness and a marking channel per surface finish.

A texture is attached to the surface, band-limited to what the camera resolves, and different
everywhere within a tile, so that keypoints found on it are repeatable and distinct.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats32 = NDArray[np.float32]

TEXELS = 512


class Finish(IntEnum):
    """What a surface looks like; the value is the layer in the atlas."""

    PLAIN = 0
    WOOD = auto()
    PLANKS = auto()
    PLASTER = auto()
    BLOTCHES = auto()
    LABEL = auto()
    STRIPES = auto()
    DOTS = auto()
    PATCHES = auto()
    ART = auto()


@dataclass(frozen=True)
class Atlas:
    """All textures: `brightness` (finishes, TEXELS, TEXELS) about 1, `marking` in 0..1."""

    brightness: Floats32
    marking: Floats32

    def sample(
        self, layer: NDArray[np.intp], u: Floats32, v: Floats32
    ) -> tuple[Floats32, Floats32]:
        """Bilinear brightness and marking at texel coordinates, wrapping around."""
        left, top = np.floor(u), np.floor(v)
        right_weight, bottom_weight = u - left, v - top
        column, row = left.astype(np.intp), top.astype(np.intp)
        brightness = np.zeros_like(u)
        marking = np.zeros_like(u)
        for down, vertical in ((0, 1 - bottom_weight), (1, bottom_weight)):
            line = (layer * TEXELS + ((row + down) & (TEXELS - 1))) * TEXELS
            for across, horizontal in ((0, 1 - right_weight), (1, right_weight)):
                index = line + ((column + across) & (TEXELS - 1))
                weight = vertical * horizontal
                brightness += weight * self.brightness.ravel().take(index)
                marking += weight * self.marking.ravel().take(index)
        return brightness, marking


def build_atlas(seed: int) -> Atlas:
    """Draw every finish; equal seeds give equal textures."""
    makers: dict[Finish, Callable[[np.random.Generator], tuple[Floats32, Floats32]]] = {
        Finish.PLAIN: _plain,
        Finish.WOOD: _wood,
        Finish.PLANKS: _planks,
        Finish.PLASTER: _plaster,
        Finish.BLOTCHES: _blotches,
        Finish.LABEL: _label,
        Finish.STRIPES: _stripes,
        Finish.DOTS: _dots,
        Finish.PATCHES: _patches,
        Finish.ART: _art,
    }
    layers = [makers[finish](np.random.default_rng([seed, finish])) for finish in Finish]
    return Atlas(
        brightness=np.stack([brightness for brightness, _ in layers]),
        marking=np.stack([marking for _, marking in layers]),
    )


def _noise(
    rng: np.random.Generator, wavelength: float, stretch: tuple[float, float] = (1.0, 1.0)
) -> Floats32:
    """Unit-variance tileable noise about one wavelength in texels, stretched along u and v."""
    spectrum = np.fft.rfft2(rng.standard_normal((TEXELS, TEXELS)))
    u = np.fft.rfftfreq(TEXELS)[None, :] * stretch[0]
    v = np.fft.fftfreq(TEXELS)[:, None] * stretch[1]
    octave = np.log2(np.maximum(np.hypot(u, v), 1e-6) * wavelength)
    field = np.fft.irfft2(spectrum * np.exp(-0.5 * (octave / 0.6) ** 2), (TEXELS, TEXELS))
    return np.asarray((field - field.mean()) / field.std(), dtype=np.float32)


def _grid() -> tuple[Floats32, Floats32]:
    axis = np.arange(TEXELS, dtype=np.float32)
    return axis[None, :].repeat(TEXELS, axis=0), axis[:, None].repeat(TEXELS, axis=1)


def _step(field: NDArray[np.floating[Any]], width: float) -> Floats32:
    """A soft threshold at 0, `width` wide."""
    ramp = np.clip(field / width + 0.5, 0.0, 1.0)
    return np.asarray(ramp * ramp * (3 - 2 * ramp), dtype=np.float32)


def _plain(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    brightness = 1 + 0.05 * _noise(rng, 12) + 0.03 * _noise(rng, 50)
    return brightness, _step(_noise(rng, 26) - 2.1, 0.5) * np.float32(0.5)


def _wood(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    """Glued boards with rings, fibres and a few knots, along u."""
    _, v = _grid()
    board = (v // 64).astype(int)
    grain = _noise(rng, 300, (3.0, 1.0)) + rng.uniform(0, 3, 8)[board].astype(np.float32)
    rings = np.sin(2 * np.pi * (v * 22 / TEXELS + 0.8 * grain))
    fibre = _noise(rng, 8, (5.0, 1.0)) + 0.7 * _noise(rng, 14, (3.0, 1.0))
    knots = _step(_noise(rng, 38, (1.5, 1.0)) - 2.4, 0.8)
    seam = _step(1.2 - np.abs(v % 64 - 32), 1.0)
    brightness = 1 + rng.normal(0, 0.05, 8)[board] + 0.065 * fibre
    brightness += 0.045 * _noise(rng, 18, (2.0, 1.0))
    brightness -= 0.2 * knots + 0.15 * seam
    marking = np.clip(0.3 + 0.15 * rings + 0.2 * fibre + 0.6 * knots, 0.0, 1.0)
    return np.asarray(brightness, np.float32), np.asarray(marking, np.float32)


def _planks(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    u, v = _grid()
    board = np.floor(v / 32)
    start = rng.uniform(0, TEXELS, 16)[board.astype(int)]
    piece = np.floor((u + start) / 171) % 3
    tone = rng.normal(0, 0.09, (16, 3))[board.astype(int), piece.astype(int)]
    seam = np.maximum(np.abs(v % 32 - 16) - 14.6, np.abs((u + start) % 171 - 85.5) - 84.2)
    brightness = 1 + tone + 0.06 * _noise(rng, 7, (4.0, 1.0)) + 0.03 * _noise(rng, 30)
    brightness -= 0.35 * _step(seam, 1.5)
    marking = np.clip(0.3 + 0.25 * _noise(rng, 14, (3.0, 1.0)), 0.0, 1.0)
    return np.asarray(brightness, np.float32), np.asarray(marking, np.float32)


def _plaster(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    brightness = 1 + 0.045 * _noise(rng, 11) + 0.035 * _noise(rng, 24) + 0.03 * _noise(rng, 150)
    stains = _step(_noise(rng, 28) - 1.9, 0.6)
    return brightness, stains


def _blotches(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    brightness = 1 + 0.06 * _noise(rng, 12) + 0.04 * _noise(rng, 60)
    return brightness, _step(_noise(rng, 34) - 0.9, 0.3)


def _label(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    """A pale band with print on it, between 30 and 85 texels above the ground."""
    _, v = _grid()
    band = _step(np.minimum(v - 30, 85 - v), 2.0)
    print_ = _step(_noise(rng, 17, (1.0, 1.3)) - 0.55, 0.4)
    return 1 + 0.04 * _noise(rng, 12), np.asarray(band * (1 - 0.85 * print_), np.float32)


def _stripes(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    """Two level bands with scuffs, the lower one from 36 to 64 texels."""
    _, v = _grid()
    bands = np.maximum(_step(14 - np.abs(v - 50), 2.0), _step(9 - np.abs(v - 105), 2.0))
    scuffs = _step(_noise(rng, 20) - 1.3, 0.5)
    return 1 + 0.05 * _noise(rng, 14), np.asarray(np.abs(bands - 0.7 * scuffs), np.float32)


def _dots(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    u, v = _grid()
    marking = np.zeros((TEXELS, TEXELS), np.float32)
    centres, radii = rng.uniform(0, TEXELS, (190, 2)), rng.uniform(5, 11, 190)
    for (x, y), radius in zip(centres, radii, strict=True):
        across = np.abs(u[0] - x)
        down = np.abs(v[:, 0] - y)
        columns = np.flatnonzero(across < radius + 2)
        rows = np.flatnonzero(down < radius + 2)
        distance = np.hypot(across[columns][None, :], down[rows][:, None])
        block = np.ix_(rows, columns)
        marking[block] = np.maximum(marking[block], _step(radius - distance, 2.0))
    return 1 + 0.04 * _noise(rng, 12), marking


def _patches(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    """Crisp two-tone patches, the look of a play ball."""
    field = _noise(rng, 70)
    seam = _step(0.09 - np.abs(field - 0.35), 0.1)
    brightness = 1 + 0.04 * _noise(rng, 12) - 0.35 * seam
    return np.asarray(brightness, np.float32), _step(field - 0.35, 0.1)


def _art(rng: np.random.Generator) -> tuple[Floats32, Floats32]:
    """Overlapping rectangles and blots: pictures on the wall, printed covers."""
    canvas = np.full((TEXELS, TEXELS), 0.45, np.float32)
    for _ in range(420):
        x, y = rng.integers(0, TEXELS, 2)
        width, height = rng.integers(8, 64, 2)
        canvas[y : y + height, x : x + width] = rng.uniform(0, 1)
    canvas = np.clip(canvas + 0.5 * (_step(_noise(rng, 40) - 1.1, 0.3)), 0, 1)
    return 1 + 0.05 * _noise(rng, 16), canvas
