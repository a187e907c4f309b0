"""Where points of the first image may lie in the second: by the true and by the predicted pose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Picture, Sample
from rpx_pose.epipolar import essential_matrix, fundamental_matrix
from rpx_pose.previews.canvas import Canvas, Colour, Pixels, hues
from rpx_pose.types import PairQuery, RelativePoseGroundTruth, RelativePosePrediction

Floats = NDArray[np.float64]

COLUMNS, ROWS = 4, 3


def draw_epipolar_lines(
    sample: Sample, truth: RelativePoseGroundTruth, prediction: RelativePosePrediction
) -> list[Picture]:
    """The first image with a grid of points, and the second with the line of each, twice.

    A cross marks where a point would be if it were infinitely far: rotation alone decides that.
    Only the images, where intrinsics are missing.
    """
    query = sample.query
    if sample.rgb is None or not isinstance(query, PairQuery):
        return []
    if sample.intrinsics is None or query.intrinsics_b is None:
        return [Picture("first image", sample.rgb), Picture("second image", query.rgb_b)]
    cameras = sample.intrinsics, query.intrinsics_b
    points, colours = _grid(sample.rgb), hues(COLUMNS * ROWS)
    first = Canvas(sample.rgb)
    for (x, y), colour in zip(points, colours, strict=True):
        first.dot(x, y, colour, radius=4)
    return [
        Picture("first image", first.pixels()),
        Picture("second image, true lines", _draw_lines(query.rgb_b, truth, cameras, points)),
        Picture(
            "second image, predicted lines", _predicted(query.rgb_b, prediction, cameras, points)
        ),
    ]


def _predicted(
    image: Pixels,
    prediction: RelativePosePrediction,
    cameras: tuple[Floats, Floats],
    points: Floats,
) -> Pixels:
    if prediction.rotation is None or prediction.translation is None:
        canvas = Canvas(image)
        canvas.text(6, 6, "no pose")
        return canvas.pixels()
    pose = RelativePoseGroundTruth(prediction.rotation, prediction.translation)
    return _draw_lines(image, pose, cameras, points)


def _draw_lines(
    image: Pixels,
    relative: RelativePoseGroundTruth,
    cameras: tuple[Floats, Floats],
    points: Floats,
) -> Pixels:
    canvas = Canvas(image)
    f = fundamental_matrix(essential_matrix(relative), *cameras)
    homogeneous = np.column_stack([points, np.ones(len(points))])
    far = homogeneous @ (cameras[1] @ relative.rotation.T @ np.linalg.inv(cameras[0])).T
    colours = hues(len(points))
    for line, colour in zip(homogeneous @ f.T, colours, strict=True):
        ends = _clip(line, image)
        if ends is not None:
            _draw_edged(canvas, ends, colour)
    for (x, y, z), colour in zip(far, colours, strict=True):
        if z > 0:
            canvas.cross(x / z, y / z, colour)
    return canvas.pixels()


def _draw_edged(canvas: Canvas, ends: Floats, colour: Colour) -> None:
    canvas.line(ends, (0, 0, 0), width=3)
    canvas.line(ends, colour, width=1)


def _clip(line: Floats, image: Pixels) -> Floats | None:
    """The two places where a line a·x + b·y + c = 0 leaves the image, or None if it misses it."""
    a, b, c = line
    height, width = image.shape[:2]
    found = []
    if abs(b) > 0:
        found += [(x, -(a * x + c) / b) for x in (0.0, width - 1.0)]
    if abs(a) > 0:
        found += [(-(b * y + c) / a, y) for y in (0.0, height - 1.0)]
    inside = [(x, y) for x, y in found if -0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5]
    return np.array([min(inside), max(inside)]) if len(inside) > 1 else None


def _grid(image: Pixels) -> Floats:
    """Points in rows and columns that slant, so that no two share a line when cameras move along
    either.
    """
    height, width = image.shape[:2]
    row, column = (index.ravel() for index in np.mgrid[:ROWS, :COLUMNS])
    x = (column + (row + 0.5) / ROWS) * width / COLUMNS
    y = (row + (column + 0.5) / COLUMNS) * height / ROWS
    return np.column_stack([x, y])
