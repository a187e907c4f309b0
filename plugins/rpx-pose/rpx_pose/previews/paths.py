"""A true and an estimated path from above, and the error along the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Picture
from rpx_pose.previews.canvas import (
    INK,
    PAPER,
    RIGHT,
    TEXT_PX,
    WRONG,
    Canvas,
    Colour,
    Pixels,
)
from rpx_pose.trajectory_errors import absolute_errors, align_estimate, apply_alignment
from rpx_pose.types import Trajectory, TrajectoryPrediction

Floats = NDArray[np.float64]

WIDTH, HEIGHT, MARGIN = 480, 360, 36
TEXT_Y = 6
TRUE: Colour = (0, 114, 178)


def draw_paths(truth: Trajectory, prediction: TrajectoryPrediction) -> list[Picture]:
    """The paths after the best rigid motion, along the direction in which the truth is flattest.

    The estimate goes from green to orange with its error, and is not drawn where it leaves poses
    of the truth out; a bar gives the scale.
    """
    if prediction.truth_indices is None or prediction.indices is None:
        return []
    true = truth.poses[prediction.truth_indices]
    estimate = prediction.trajectory.poses[prediction.indices]
    fitted = align_estimate(true, estimate, "se3")
    if fitted is None:
        return []
    aligned = apply_alignment(estimate, fitted)
    errors = absolute_errors(true, aligned).translation_m
    track = Track(aligned[:, :3, 3], errors, prediction.truth_indices, _joins(prediction))
    return [
        Picture("paths from above", _draw_map(truth.poses[:, :3, 3], track)),
        Picture("position error", _draw_curve(track, len(truth))),
    ]


@dataclass(frozen=True, eq=False)
class Track:
    """Aligned positions (m, 3), their errors, the true poses they belong to, and `joined` (m-1,):
    between which two the estimate goes on.
    """

    positions: Floats
    errors: Floats
    truth_indices: NDArray[np.intp]
    joined: NDArray[np.bool_]


def _joins(prediction: TrajectoryPrediction) -> NDArray[np.bool_]:
    """Whether no true pose that is not covered lies between two poses that follow each other."""
    indices, covered = prediction.truth_indices, prediction.covered
    if indices is None or covered is None:
        return np.ones(0 if indices is None else max(len(indices) - 1, 0), bool)
    missing = np.cumsum(~covered)
    return np.asarray(np.diff(missing[indices]) == 0)


def _draw_map(true: Floats, track: Track) -> Pixels:
    estimate, errors = track.positions, track.errors
    centre = true.mean(axis=0)
    _, _, axes = np.linalg.svd((true - centre).T @ (true - centre))
    flat_true, flat_estimate = (true - centre) @ axes[:2].T, (estimate - centre) @ axes[:2].T
    low, high = _extent(np.concatenate([flat_true, flat_estimate]))
    metres = max((high - low)[0] / (WIDTH - 2 * MARGIN), (high - low)[1] / (HEIGHT - 2 * MARGIN))
    metres = metres or 1.0

    def place(points: Floats) -> Floats:
        middle = (low + high) / 2
        return (points - middle) / metres * (1, -1) + (WIDTH / 2, HEIGHT / 2)

    canvas = _paper()
    canvas.line(place(flat_true), TRUE, width=2)
    worst = float(errors.max()) or 1.0
    places = place(flat_estimate)
    for k in np.flatnonzero(track.joined):
        canvas.line(places[k : k + 2], _blend(errors[k] / worst), width=2)
    for (x, y), colour in ((places[0], RIGHT), (place(flat_true)[0], TRUE)):
        canvas.dot(float(x), float(y), colour, radius=4)
    _draw_bar(canvas, metres)
    legend = f"truth blue, estimate green to orange (0 to {worst:.3g} m)"
    canvas.text(MARGIN, TEXT_Y, legend)
    return canvas.pixels()


def _draw_bar(canvas: Canvas, metres: float) -> None:
    """A length of 1, 2 or 5 times a power of ten that fills up to a quarter of the width."""
    longest = metres * WIDTH / 4
    power = 10.0 ** np.floor(np.log10(longest))
    length = max(step * power for step in (1, 2, 5) if step * power <= longest)
    y = HEIGHT - MARGIN / 2
    canvas.line(np.array([[MARGIN, y], [MARGIN + length / metres, y]]), INK, width=3)
    canvas.text(MARGIN, y - TEXT_PX - 6, f"{length:g} m")


def _draw_curve(track: Track, poses: int) -> Pixels:
    canvas = _paper()
    errors = track.errors
    worst = float(errors.max()) or 1.0
    x = MARGIN + track.truth_indices / max(poses - 1, 1) * (WIDTH - 2 * MARGIN)
    y = HEIGHT - MARGIN - errors / worst * (HEIGHT - 2 * MARGIN)
    frame = np.array(
        [[MARGIN, MARGIN], [MARGIN, HEIGHT - MARGIN], [WIDTH - MARGIN, HEIGHT - MARGIN]]
    )
    canvas.line(frame, INK)
    curve = np.column_stack([x, y])
    for k in np.flatnonzero(track.joined):
        canvas.line(curve[k : k + 2], WRONG, width=2)
    canvas.text(MARGIN, TEXT_Y, f"distance from the truth, up to {worst:.3g} m")
    canvas.text(MARGIN, HEIGHT - MARGIN + 6, f"{len(errors)} of {poses} poses")
    return canvas.pixels()


def _extent(points: Floats) -> tuple[Floats, Floats]:
    return points.min(axis=0), points.max(axis=0)


def _blend(share: float) -> Colour:
    mixed = np.array(RIGHT) + (np.array(WRONG) - np.array(RIGHT)) * share
    red, green, blue = (round(float(part)) for part in mixed)
    return red, green, blue


def _paper() -> Canvas:
    return Canvas(np.full((HEIGHT, WIDTH, 3), PAPER, np.uint8))
