"""Bands along boundaries, and the tolerance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import MetricError
from rpx_seg.boundaries import boundary_band, tolerance_px

labels = arrays(np.int32, (7, 9), elements=st.integers(0, 2))


def test_a_map_of_one_label_has_a_band_along_the_border():
    mask = np.full((10, 20), 4)
    band = boundary_band(mask, 0.1)
    assert band[2:-2, 2:-2].max() == 0
    assert (band[:2] == 4).all()
    assert (band[:, -2:] == 4).all()


def test_a_band_is_as_wide_as_its_share_of_the_diagonal_along_both_axes():
    mask = np.zeros((60, 80), int)
    mask[20:40, 20:50] = 1
    band = boundary_band(mask, 0.03)
    inside = np.zeros_like(mask)
    inside[20:40, 20:50] = 1
    inside[23:37, 23:47] = 0
    np.testing.assert_array_equal(band == 1, inside == 1)


def test_a_band_is_a_pixel_wide_at_least():
    mask = np.zeros((5, 5), int)
    mask[1:4, 1:4] = 1
    band = boundary_band(mask, 0.001)
    assert band[2, 2] == 0
    assert np.count_nonzero(band == 1) == 8


def slow_band(mask, width) -> np.ndarray:
    """Pixel by pixel: kept where the square about it holds another label or the outside."""
    padded = np.pad(mask, width, constant_values=-9)
    band = np.zeros_like(mask)
    for row, column in np.ndindex(mask.shape):
        window = padded[row : row + 2 * width + 1, column : column + 2 * width + 1]
        if (window != mask[row, column]).any():
            band[row, column] = mask[row, column]
    return band


@given(labels, st.integers(1, 3))
def test_bands_are_what_looking_at_every_square_gives(mask, width):
    share = width / np.hypot(*mask.shape)
    np.testing.assert_array_equal(boundary_band(mask, share), slow_band(mask, width))


def test_void_stays_void_in_a_band():
    mask = np.full((9, 9), -1)
    np.testing.assert_array_equal(boundary_band(mask), mask)


def test_tolerance_is_rounded_up():
    assert tolerance_px((480, 640)) == 7
    assert tolerance_px((240, 320)) == 4


def test_only_label_maps_have_bands():
    with pytest.raises(MetricError, match="height x width"):
        boundary_band(np.zeros((2, 2, 3), int))
