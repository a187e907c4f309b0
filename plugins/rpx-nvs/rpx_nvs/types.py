"""What the task passes around: ground truth, prediction, and what a model gets to see."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
"""Colours, (H, W, 3), 0 to 255."""
Colours = NDArray[Any]
"""The same as uint8, or as floats from 0 to 1."""
Mask = NDArray[np.bool_]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SourceView:
    """One view that is given: image, 3x3 intrinsics and depth (H, W; 0 = unknown) where known.

    `pose` is 4x4 camera-to-world in OpenCV axes and metres; a view whose pose the dataset does
    not tell is itself the world.
    """

    rgb: Image
    pose: Matrix
    intrinsics: Matrix | None = None
    depth: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class NovelViewSynthesisQuery:
    """Where to look from, and what is given to look with.

    `target_pose` is absolute: 4x4 camera-to-world, OpenCV axes, metres. `relative_pose` is the
    same camera in the axes of the first source view: x_source = relative_pose · x_target.
    `target_size` is (height, width). `sources[0]` is the sample's own image, which further views
    may follow. Their depth is there only where the dataset has it and the task's option
    `source_depth` allows it.
    """

    target_pose: Matrix
    relative_pose: Matrix
    target_size: tuple[int, int]
    sources: tuple[SourceView, ...]
    target_intrinsics: Matrix | None = None


@dataclass(frozen=True, eq=False)
class NovelViewSynthesisGroundTruth:
    """The image that the target camera took, and where it stood.

    `camera_pose` is 4x4 camera-to-world. `scored` marks the pixels that count (None: all).
    `depth` (H, W) in metres and `intrinsics` belong to the target; `seen` says of each of its
    pixels whether a source view sees that surface point (see `rpx_nvs.visibility`).
    """

    rgb: Image
    camera_pose: Matrix | None = None
    scored: Mask | None = field(default=None, kw_only=True)
    depth: NDArray[np.float32] | None = field(default=None, kw_only=True)
    intrinsics: Matrix | None = field(default=None, kw_only=True)
    seen: NDArray[np.uint8] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class NovelViewSynthesisPrediction:
    """The synthesised view, (H, W, 3) of the target's size: uint8, or float32 from 0 to 1."""

    rgb: Colours
