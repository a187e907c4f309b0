"""Boundaries as bool maps: where labels or depth jump, grown, and near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from rpx_core.boundaries import dilate, gradient_boundary, label_boundary, near
from rpx_core.errors import MetricError

Maps = NDArray[Any]

grids = arrays(np.bool_, (7, 9), elements=st.booleans())
label_maps = arrays(np.int32, (7, 9), elements=st.integers(0, 2))


def flagged(mask: Maps) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(mask)]


def test_labels_change_to_the_right_or_below() -> None:
    labels = np.array([[1, 1, 2], [1, 1, 2], [3, 3, 3]])
    expected = [[False, True, False], [True, True, True], [False, False, False]]
    assert label_boundary(labels).tolist() == expected


@given(label_maps)
def test_renaming_labels_moves_no_boundary(labels: Maps) -> None:
    names = np.array([7, 300, 2])
    np.testing.assert_array_equal(label_boundary(names[labels]), label_boundary(labels))


@pytest.mark.parametrize("shape", [(480, 640), (1, 1), (1, 5), (2, 2)])
def test_a_constant_map_has_no_boundary(shape: tuple[int, int]) -> None:
    assert not label_boundary(np.full(shape, 4)).any()
    assert not gradient_boundary(np.full(shape, 3.0, np.float32), 0.1).any()


def test_gradients_are_central_and_mark_both_sides() -> None:
    # Halved differences of the neighbours: 0.1, 0.25, 0.15; the ends have none.
    depth = np.array([[1.0, 1.0, 1.2, 1.5, 1.5]])
    assert gradient_boundary(depth, 0.12).tolist() == [[False, False, True, True, False]]


def test_the_threshold_of_gradients_is_strict_and_per_pixel() -> None:
    depth = np.array([[1.0, 1.5, 2.0]] * 3)
    assert not gradient_boundary(depth, 0.5).any()
    assert flagged(gradient_boundary(depth, 0.499)) == [(row, 1) for row in range(3)]


def test_gradients_combine_both_axes() -> None:
    rows, columns = np.mgrid[:3, :3]
    depth = 1 + 0.08 * rows + 0.08 * columns
    assert flagged(gradient_boundary(depth, 0.1)) == [(1, 1)]


def test_gradients_leave_the_map_alone() -> None:
    depth = np.array([[1.0, np.nan, 2.0, np.inf]])
    before = depth.copy()
    gradient_boundary(depth, 0.1)
    np.testing.assert_array_equal(depth, before)


def test_a_pixel_dilated_twice_is_a_diamond_of_13() -> None:
    one = np.zeros((7, 7), np.bool_)
    one[3, 3] = True
    rows, columns = np.nonzero(dilate(one, 2))
    assert rows.size == 13
    assert (np.abs(rows - 3) + np.abs(columns - 3) <= 2).all()


def test_dilation_stops_at_the_border() -> None:
    corner = np.zeros((3, 3), np.bool_)
    corner[0, 0] = True
    assert np.count_nonzero(dilate(corner, 1)) == 3


@given(grids, grids, st.sampled_from([0, 1, 1.5, 2, 2.5, 5, 20]))
def test_near_is_by_distance_between_pixel_centres(mask: Maps, other: Maps, radius: float) -> None:
    others = np.argwhere(other)
    expected = [
        bool(mask[row, column]) and any(np.hypot(row - r, column - c) <= radius for r, c in others)
        for row, column in np.ndindex(*mask.shape)
    ]
    assert near(mask, other, radius).ravel().tolist() == expected


@given(grids, st.integers(0, 3))
def test_a_map_is_near_itself(mask: Maps, radius: int) -> None:
    np.testing.assert_array_equal(near(mask, mask, radius), mask)


def test_only_maps_have_boundaries() -> None:
    with pytest.raises(MetricError, match="a label map has shape"):
        label_boundary(np.zeros((2, 2, 3), int))
    with pytest.raises(MetricError, match="a depth map has shape"):
        gradient_boundary(np.ones(4), 0.1)
