"""Thin boundaries, bands and tolerance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import MetricError
from rpx_seg.boundaries import boundary_band, count_near, label_boundary, tolerance_px

labels = arrays(np.int32, (7, 9), elements=st.integers(0, 2))
masks = arrays(np.bool_, (7, 9))


def flagged(mask) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(mask)]


def test_thin_boundaries_lie_left_of_and_above_a_change():
    mask = np.zeros((4, 4), int)
    mask[1:3, 1:3] = 5
    assert flagged(label_boundary(mask)) == [
        *[(0, 1), (0, 2)],
        *[(1, 0), (1, 2)],
        *[(2, 0), (2, 1), (2, 2)],
    ]


@given(labels)
def test_renaming_labels_moves_no_boundary(mask):
    names = np.array([7, 300, 2])
    np.testing.assert_array_equal(label_boundary(names[mask]), label_boundary(mask))


def test_a_map_of_one_label_has_no_boundary_but_a_band_along_the_border():
    mask = np.full((10, 20), 4)
    assert not label_boundary(mask).any()
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


def slow_near(boundary, other, radius) -> int:
    spots = np.argwhere(other)
    return sum(
        bool(len(spots)) and int(((spots - at) ** 2).sum(axis=1).min()) <= radius**2
        for at in np.argwhere(boundary)
    )


@given(masks, masks, st.integers(0, 4))
def test_near_is_within_the_radius_as_the_crow_flies(boundary, other, radius):
    assert count_near(boundary, other, radius) == slow_near(boundary, other, radius)


@given(masks, st.integers(0, 3))
def test_a_boundary_is_near_itself(boundary, radius):
    assert count_near(boundary, boundary, radius) == np.count_nonzero(boundary)


def test_tolerance_is_rounded_up():
    assert tolerance_px((480, 640)) == 7
    assert tolerance_px((240, 320)) == 4


@pytest.mark.parametrize("function", [label_boundary, boundary_band])
def test_only_label_maps_have_boundaries(function):
    with pytest.raises(MetricError, match="height x width"):
        function(np.zeros((2, 2, 3), int))
