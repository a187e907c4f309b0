"""The Middlebury 2014 Motorcycle stereo pair of scikit-image as an RPX dataset of one record.

Calibration from scikit-image's documentation of the pair (quarter size): focal length
994.978 px, baseline 193.001 mm, principal points 31.086 px (`doffs`) apart. A left pixel (x, y)
of disparity d is the right pixel (x - d, y), and its depth is b f / (d + doffs).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.demo import MOTORCYCLE_VERSION
from rpx_core.demo.files import write_manifest, write_png
from rpx_core.errors import ConfigError

FOCAL_PX = 994.978
CENTRE_X_PX, CENTRE_Y_PX = 311.193, 254.877
DOFFS_PX = 31.086
BASELINE_M = 0.193001

TASKS = (
    "monocular_depth",
    "sparse_depth",
    "relative_camera_pose",
    "keypoint_matching",
    "novel_view_synthesis",
)
_SEED = 2014
_CORRESPONDENCES = 2000
_SPARSE_POINTS = 500

Floats32 = NDArray[np.float32]


@dataclass(frozen=True)
class _Pair:
    left: NDArray[np.uint8]
    right: NDArray[np.uint8]
    disparity: Floats32
    """Left disparity in pixels, NaN where it is unknown."""


def write_pair(directory: Path) -> Path:
    """Write images, depth, matches and the manifest `motorcycle.json`; return its path."""
    pair = _load_pair()
    directory.mkdir(parents=True, exist_ok=True)
    write_png(directory / "left.png", pair.left)
    write_png(directory / "right.png", pair.right)
    depth = depth_of(pair.disparity)
    np.save(directory / "depth.npy", depth)
    rng = np.random.default_rng(_SEED)
    _write_matches(directory, pair.disparity, rng)
    _write_sparse_depth(directory, depth, rng)
    header = {
        "schema": "rpx-manifest-1",
        "name": "motorcycle",
        "version": MOTORCYCLE_VERSION,
        "tasks": TASKS,
        "root": ".",
        "pose_convention": "opencv",
    }
    manifest = directory / "motorcycle.json"
    write_manifest(manifest, header, [_record()])
    return manifest


def depth_of(disparity: Floats32) -> Floats32:
    """Depth in metres, 0 where the disparity is unknown."""
    depth = BASELINE_M * FOCAL_PX / (disparity.astype(np.float64) + DOFFS_PX)
    return np.where(np.isfinite(disparity), depth, 0).astype(np.float32)


def visible_in_right(disparity: Floats32) -> NDArray[np.bool_]:
    """Left pixels that the right camera sees too: inside its image, with nothing in front.

    Where several left pixels fall on one right column, the largest disparity is in front;
    within a pixel of it is the same surface.
    """
    rows, columns = np.nonzero(np.isfinite(disparity))
    shift = disparity[rows, columns]
    target = columns - shift
    inside = (target >= 0) & (target <= disparity.shape[1] - 1)
    rows, columns, shift, target = rows[inside], columns[inside], shift[inside], target[inside]
    landings = [(rows, side(target).astype(np.intp)) for side in (np.floor, np.ceil)]
    nearest = np.zeros_like(disparity)
    for landing in landings:
        np.maximum.at(nearest, landing, shift)
    hidden = np.logical_or.reduce([shift <= nearest[landing] - 1 for landing in landings])
    visible = np.zeros(disparity.shape, dtype=bool)
    visible[rows, columns] = ~hidden
    return visible


def _load_pair() -> _Pair:
    try:
        import skimage.data
    except ImportError as error:
        raise ConfigError(
            "the motorcycle dataset is part of scikit-image, which is not installed",
            hint="pip install 'rpx-core[motorcycle]'",
        ) from error
    untyped: Any = skimage.data
    left, right, disparity = untyped.stereo_motorcycle()
    # Some releases mark unknown disparities with infinity, others with NaN.
    disparity = np.where(np.isfinite(disparity), disparity, np.nan).astype(np.float32)
    return _Pair(np.asarray(left, np.uint8), np.asarray(right, np.uint8), disparity)


def _record() -> dict[str, object]:
    left = {"fx": FOCAL_PX, "fy": FOCAL_PX, "cx": CENTRE_X_PX, "cy": CENTRE_Y_PX}
    right = left | {"cx": round(CENTRE_X_PX + DOFFS_PX, 3)}
    # Camera to world, the left camera being the world: the right one stands at +x.
    pose_left = np.eye(4).tolist()
    pose_right = np.eye(4)
    pose_right[0, 3] = BASELINE_M
    return {
        "id": "motorcycle_0",
        "scene": "motorcycle",
        "metadata": {
            "generator": f"motorcycle-{MOTORCYCLE_VERSION}",
            "origin": "Middlebury 2014 stereo, Motorcycle, as shipped with scikit-image",
        },
        "rgb": "left.png",
        "intrinsics": left,
        "pose": pose_left,
        "depth": "depth.npy",
        "rgb_right": "right.png",
        "intrinsics_right": right,
        "baseline_m": BASELINE_M,
        "rgb_b": "right.png",
        "intrinsics_b": right,
        "pose_a": pose_left,
        "pose_b": pose_right.tolist(),
        "points0": "points0.npy",
        "points1": "points1.npy",
        "visibility": "visibility.npy",
        "coordinates": "coordinates.npy",
        "depths": "depths.npy",
        "target_rgb": "right.png",
        "target_pose": pose_right.tolist(),
    }


def _write_matches(directory: Path, disparity: Floats32, rng: np.random.Generator) -> None:
    known = np.flatnonzero(np.isfinite(disparity))
    chosen = np.sort(rng.choice(known, _CORRESPONDENCES, replace=False))
    rows, columns = np.divmod(chosen, disparity.shape[1])
    shifted = columns - disparity[rows, columns].astype(np.float64)
    np.save(directory / "points0.npy", np.stack([columns, rows], axis=1).astype(np.float64))
    np.save(directory / "points1.npy", np.stack([shifted, rows.astype(np.float64)], axis=1))
    np.save(directory / "visibility.npy", visible_in_right(disparity)[rows, columns])


def _write_sparse_depth(directory: Path, depth: Floats32, rng: np.random.Generator) -> None:
    chosen = np.sort(rng.choice(np.flatnonzero(depth), _SPARSE_POINTS, replace=False))
    rows, columns = np.divmod(chosen, depth.shape[1])
    np.save(directory / "coordinates.npy", np.stack([columns, rows], axis=1).astype(np.float64))
    np.save(directory / "depths.npy", depth[rows, columns].astype(np.float64))
