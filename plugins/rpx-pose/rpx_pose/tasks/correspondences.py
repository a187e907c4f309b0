"""True correspondences of a pair of images, from any of the forms that records list them in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.arrays import load_array, load_arrays
from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.magnitudes import PIXELS, find_absurd
from rpx_core.records import Record
from rpx_pose.homography import transfer
from rpx_pose.types import KeypointCorrespondenceGroundTruth

Floats = NDArray[np.float64]

GRID_STEP_PX = 16
"""Distance of the points that a homography makes where a record lists none."""
_MARGIN_PX = 0.5
"""How far outside the centre of the last pixel a point may lie."""


def load_correspondences(
    record: Record, files: Files, sample: Sample
) -> KeypointCorrespondenceGroundTruth:
    """Points in both images and which are seen in both; raises ManifestError naming what is wrong.

    From `correspondences` (a `.npz` with points0, points1, visibility), else from the assets of
    those names, else from a `homography` alone: a grid of points, seen where it ends inside.
    """
    homography = _homography(record, files)
    arrays = _arrays(record, files)
    if arrays is None and homography is not None:
        return _grid(homography, _size(sample.rgb), _size(sample.query.rgb_b))
    if arrays is None:
        raise ManifestError(
            f"sample {record.id}: no true matches are listed",
            hint="`correspondences`, `points0` with `points1`, or `homography` was expected; the "
            "last frame of a sequence begins no pair",
        )
    truth = KeypointCorrespondenceGroundTruth(*arrays, homography=homography)
    _check_inside(record, truth, sample)
    return truth


def _arrays(record: Record, files: Files) -> tuple[Floats, Floats, NDArray[np.bool_]] | None:
    where = f"sample {record.id}"
    if record.has("correspondences"):
        name = record.path_of("correspondences")
        stored = load_arrays(files.read(name), name=name, require=("points0", "points1"))
        found = stored["points0"], stored["points1"], stored.get("visibility")
        where = name
    elif record.has("points0") and record.has("points1"):
        keys = ("points0", "points1", "visibility")
        first, second, third = (_array(record, key, files) for key in keys)
        found = first, second, third  # type: ignore[assignment]  # both points are there, see above
    else:
        return None
    points0, points1 = (_points(array, where) for array in found[:2])
    visibility = np.ones(len(points0), bool) if found[2] is None else np.asarray(found[2])
    if not len(points0) == len(points1) == visibility.size:
        raise ManifestError(
            f"{where}: {len(points0)} points0, {len(points1)} points1 and {visibility.size} "
            "visibilities; equally many were expected"
        )
    return points0, points1, visibility.reshape(-1).astype(bool)


def _array(record: Record, key: str, files: Files) -> NDArray[Any] | None:
    value = record.assets.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        return load_array(files.read(value), name=value)
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise ManifestError(f"sample {record.id}: `{key}` is no list of numbers") from error


def _points(array: NDArray[Any], where: str) -> Floats:
    points = np.asarray(array, np.float64)
    if not points.size:
        return np.zeros((0, 2))
    if points.ndim != 2 or points.shape[1] != 2:
        raise ManifestError(f"{where}: points have shape {points.shape}; (n, 2), x and y, expected")
    absurd = find_absurd(points, PIXELS)
    if absurd is not None:
        raise ManifestError(
            f"{where}: one of the points {absurd}", hint="points are pixels of the images"
        )
    return points


def _homography(record: Record, files: Files) -> Floats | None:
    matrix = _array(record, "homography", files)
    if matrix is None:
        return None
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or np.linalg.det(matrix) == 0:
        raise ManifestError(
            f"sample {record.id}: `homography` must be an invertible 3x3 matrix, first image to "
            "second"
        )
    return matrix.astype(np.float64)


def _grid(
    homography: Floats, size0: tuple[int, int], size1: tuple[int, int]
) -> KeypointCorrespondenceGroundTruth:
    half = GRID_STEP_PX // 2
    x, y = (np.arange(half, side, GRID_STEP_PX, dtype=np.float64) for side in size0)
    points0 = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    points1 = transfer(homography, points0)
    depth = (homography @ np.stack([*points0.T, np.ones(len(points0))]))[2]
    # Behind the camera a homography still gives pixels; the centre of the image is in front.
    front = depth * (homography @ np.array([size0[0] / 2, size0[1] / 2, 1.0]))[2] > 0
    visible = front & _is_inside(points1, size1)
    return KeypointCorrespondenceGroundTruth(points0, points1, visible, homography=homography)


def _check_inside(record: Record, truth: KeypointCorrespondenceGroundTruth, sample: Sample) -> None:
    sides = (
        ("points0", truth.points0, _size(sample.rgb), np.ones(len(truth.points0), bool)),
        ("points1", truth.points1, _size(sample.query.rgb_b), truth.visible()),
    )
    for key, points, (width, height), counted in sides:
        outside = np.flatnonzero(counted & ~_is_inside(points, (width, height)))
        if outside.size:
            x, y = points[outside[0]]
            raise ManifestError(
                f"sample {record.id}: {key}[{outside[0]}] is at ({x:g}, {y:g}), outside the "
                f"{width}x{height} image ({outside.size} points are)",
                hint="points are x, y; mark what is not seen in `visibility`, do not pad",
            )


def _is_inside(points: Floats, size: tuple[int, int]) -> NDArray[np.bool_]:
    high = np.array(size) - 1 + _MARGIN_PX
    return np.asarray(((points >= -_MARGIN_PX) & (points <= high)).all(axis=1))


def _size(image: NDArray[np.uint8] | None) -> tuple[int, int]:
    """Width and height."""
    if image is None:
        return 0, 0
    return image.shape[1], image.shape[0]
