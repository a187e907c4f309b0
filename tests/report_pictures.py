"""Pictures of a table-top scene with its depth, a wrong prediction and their difference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Map = NDArray[np.float64]

HEIGHT, WIDTH = 240, 320
_DEPTH_COLOURS = np.array(
    [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]], dtype=np.float64
)
_ERROR_COLOURS = np.array(
    [[252, 251, 247], [254, 224, 144], [244, 130, 60], [178, 34, 34], [80, 8, 20]], dtype=np.float64
)


def paint_scene(seed: int) -> Mapping[str, Image]:
    """Four pictures by caption, the input first."""
    generator = np.random.default_rng(seed)
    colour, depth = _render(generator)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    wave = np.sin(columns / generator.uniform(30, 60)) * np.cos(rows / generator.uniform(25, 50))
    predicted = _blur(depth, 9) * (1.04 + 0.05 * wave)
    error = np.abs(predicted - depth) / depth
    return {
        "input": np.clip(colour, 0, 255).astype(np.uint8),
        "ground truth": _colour(depth, _DEPTH_COLOURS, (0.6, 2.6)),
        "prediction": _colour(predicted, _DEPTH_COLOURS, (0.6, 2.6)),
        "relative error": _colour(error, _ERROR_COLOURS, (0.0, 0.35)),
    }


def _render(generator: np.random.Generator) -> tuple[Map, Map]:
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    horizon = 88.0
    wall = 2.5 - 0.1 * columns / WIDTH
    table = 2.4 / (1 + 2.6 * np.clip(rows - horizon, 0, None) / HEIGHT)
    on_table = rows > horizon
    depth = np.where(on_table, np.minimum(table, wall), wall)
    colour = np.where(on_table[..., None], [176, 142, 104], [206, 208, 202]).astype(np.float64)
    colour *= (1.1 - 0.35 * np.hypot(columns - 110, rows - 60) / WIDTH)[..., None]
    palette = generator.permutation(
        [[196, 74, 56], [62, 110, 150], [228, 176, 68], [86, 132, 92], [120, 88, 140]]
    )
    for tint in palette[:4]:
        _place(generator, (colour, depth), tint)
    return colour + generator.normal(0, 3.5, colour.shape), depth


def _place(generator: np.random.Generator, scene: tuple[Map, Map], tint: NDArray[np.int64]) -> None:
    """Put one object on the table, with its shading and its shadow."""
    colour, depth = scene
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    foot, middle = generator.uniform(135, 215), generator.uniform(45, 275)
    near = 2.4 / (1 + 2.6 * (foot - 88) / HEIGHT)
    wide, tall = 34 / near, generator.uniform(50, 95) / near
    shadow = ((columns - middle - 0.7 * wide) / (1.4 * wide)) ** 2 + ((rows - foot) / 9) ** 2 < 1
    colour[shadow & (rows > 88)] *= 0.72
    across = (columns - middle) / wide
    if generator.random() < 0.4:
        tall = 2 * wide
        inside = across**2 + ((rows - foot + wide) / wide) ** 2 < 1
    else:
        inside = (np.abs(across) < 1) & (rows < foot + 4 * np.sqrt(1 - across.clip(-1, 1) ** 2))
        inside &= rows > foot - tall - 4 * np.sqrt(1 - across.clip(-1, 1) ** 2)
    inside &= depth > near
    bulge = np.sqrt(1 - across.clip(-1, 1) ** 2)
    shade = 0.55 + 0.5 * np.sqrt(1 - ((across + 0.35) / 1.4).clip(-1, 1) ** 2)
    colour[inside] = (tint * shade[..., None])[inside]
    depth[inside] = (near - 0.07 * bulge)[inside]


def _blur(image: Map, size: int) -> Map:
    kernel = np.ones(size) / size
    for axis in (0, 1):
        padding = [(size // 2, size // 2) if axis == other else (0, 0) for other in (0, 1)]
        padded = np.pad(image, padding, mode="edge")
        image = np.apply_along_axis(np.convolve, axis, padded, kernel, "valid")
    return image


def _colour(values: Map, colours: Map, bounds: tuple[float, float]) -> Image:
    low, high = bounds
    places = np.clip((values - low) / (high - low), 0, 1) * (len(colours) - 1)
    stops = np.arange(len(colours))
    channels = [np.interp(places, stops, colours[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1).astype(np.uint8)
