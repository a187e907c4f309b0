"""The canvas that Metric3D sees, and what its depths are worth in metres."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_depth.letterbox import CANVAS, MEAN, fit, paint

sides = st.integers(1, 2000)


# specs: Metric3D on a 480x640 image of focal length 605
def test_the_published_example() -> None:
    box = fit((480, 640))
    assert box.scale == pytest.approx(1.2833, abs=5e-5)
    assert box.inner == (616, 821)
    assert box.to_metres(605.0) == pytest.approx(0.7764, abs=5e-5)


def test_a_camera_of_the_canonical_focal_length_at_full_size_answers_in_metres() -> None:
    assert fit(CANVAS).to_metres(1000.0) == 1.0


@given(height=sides, width=sides)
def test_every_image_lies_in_the_middle_of_the_canvas(height: int, width: int) -> None:
    box = fit((height, width))
    (rows, columns), (all_rows, all_columns) = box.inner, CANVAS
    assert 1 <= rows <= all_rows
    assert 1 <= columns <= all_columns
    assert all_rows - rows - 2 * box.top in (0, 1)
    assert all_columns - columns - 2 * box.left in (0, 1)


def test_around_the_image_is_the_mean_colour() -> None:
    black = np.zeros((480, 640, 3), np.uint8)
    box = fit((480, 640))
    canvas = paint(black, box)
    inside = box.crop(canvas)
    assert canvas.shape == (3, 616, 1064)
    assert canvas.dtype == np.float32
    # Black is far below the mean; the frame is the mean itself, never black.
    assert inside.max() < -1.7
    assert np.count_nonzero(canvas) == inside.size


def test_an_image_of_the_canvas_s_size_is_only_normalised() -> None:
    rng = np.random.default_rng(0)
    rgb = rng.integers(0, 256, (*CANVAS, 3), dtype=np.uint8)
    canvas = paint(rgb, fit(CANVAS))
    back = canvas.transpose(1, 2, 0) * np.array([58.395, 57.12, 57.375]) + MEAN
    np.testing.assert_allclose(back, rgb, atol=1e-3)


def test_rows_stay_rows_when_an_image_is_scaled() -> None:
    rgb = np.zeros((154, 266, 3), np.uint8)
    rgb[:, 133:] = 255
    canvas = paint(rgb, fit((154, 266)))
    assert canvas[0, :, :520].max() < canvas[0, :, 545:].min()


def test_scaling_is_bilinear_between_pixel_centres() -> None:
    rng = np.random.default_rng(1)
    for shape in ((480, 640), (1080, 1920), (375, 1242)):
        rgb = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
        box = fit(shape)
        height, width = box.inner
        theirs = cv2.resize(rgb, (width, height), interpolation=cv2.INTER_LINEAR)
        ours = box.crop(paint(rgb, box)).transpose(1, 2, 0)
        ours = ours * np.array([58.395, 57.12, 57.375]) + MEAN
        # OpenCV rounds along each axis: now and then one grey value.
        assert np.abs(ours - theirs).max() < 1.01
        assert np.abs(ours - theirs).mean() < 0.2
