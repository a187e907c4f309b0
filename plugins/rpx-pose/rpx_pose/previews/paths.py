"""A true and an estimated path from above, and the error along the way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Picture
from rpx_pose.previews.canvas import INK, PAPER, RIGHT, WRONG, Canvas, Colour, Pixels
from rpx_pose.trajectory_errors import absolute_errors, align_estimate, apply_alignment
from rpx_pose.types import Trajectory, TrajectoryPrediction

Floats = NDArray[np.float64]

WIDTH, HEIGHT, MARGIN = 480, 360, 34
TRUE: Colour = (0, 114, 178)


def draw_paths(truth: Trajectory, prediction: TrajectoryPrediction) -> list[Picture]:
    """The paths after the best rigid motion, along the direction in which the truth is flattest.

    The estimate goes from green to orange with its error; a bar gives the scale.
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
    return [
        Picture("paths from above", _draw_map(truth.poses[:, :3, 3], aligned[:, :3, 3], errors)),
        Picture("position error", _draw_curve(errors)),
    ]


def _draw_map(true: Floats, estimate: Floats, errors: Floats) -> Pixels:
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
    track = place(flat_estimate)
    for k in range(len(track) - 1):
        canvas.line(track[k : k + 2], _blend(errors[k] / worst), width=2)
    for (x, y), colour in ((track[0], RIGHT), (place(flat_true)[0], TRUE)):
        canvas.dot(float(x), float(y), colour, radius=4)
    _draw_bar(canvas, metres)
    canvas.text(MARGIN, 8, f"truth blue, estimate green to orange (0 to {worst:.3g} m)")
    return canvas.pixels()


def _draw_bar(canvas: Canvas, metres: float) -> None:
    """A length of 1, 2 or 5 times a power of ten that fills up to a quarter of the width."""
    longest = metres * WIDTH / 4
    power = 10.0 ** np.floor(np.log10(longest))
    length = max(step * power for step in (1, 2, 5) if step * power <= longest)
    y = HEIGHT - MARGIN / 2
    canvas.line(np.array([[MARGIN, y], [MARGIN + length / metres, y]]), INK, width=3)
    canvas.text(MARGIN, y - 14, f"{length:g} m")


def _draw_curve(errors: Floats) -> Pixels:
    canvas = _paper()
    worst = float(errors.max()) or 1.0
    x = np.linspace(MARGIN, WIDTH - MARGIN, max(len(errors), 2))[: len(errors)]
    y = HEIGHT - MARGIN - errors / worst * (HEIGHT - 2 * MARGIN)
    frame = np.array(
        [[MARGIN, MARGIN], [MARGIN, HEIGHT - MARGIN], [WIDTH - MARGIN, HEIGHT - MARGIN]]
    )
    canvas.line(frame, INK)
    canvas.line(np.column_stack([x, y]), WRONG, width=2)
    canvas.text(MARGIN, 8, f"distance from the truth, up to {worst:.3g} m")
    canvas.text(WIDTH - MARGIN - 90, HEIGHT - MARGIN + 6, f"{len(errors)} poses")
    return canvas.pixels()


def _extent(points: Floats) -> tuple[Floats, Floats]:
    return points.min(axis=0), points.max(axis=0)


def _blend(share: float) -> Colour:
    mixed = np.array(RIGHT) + (np.array(WRONG) - np.array(RIGHT)) * share
    red, green, blue = (round(float(part)) for part in mixed)
    return red, green, blue


def _paper() -> Canvas:
    return Canvas(np.full((HEIGHT, WIDTH, 3), PAPER, np.uint8))
