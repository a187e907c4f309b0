"""Points of an image, and reading a map there: axes, edges, copies."""

import numpy as np
import pytest

from rpx_core.errors import MetricError
from rpx_depth.points import as_points, is_inside, sample_depth

MAP = np.array([[1.0, 2, 3], [4, 5, 6]])


def points(*pairs) -> np.ndarray:
    return np.array(pairs, np.float64).reshape(-1, 2)


# RW-052
def test_x_is_the_column_and_y_the_row():
    assert sample_depth(MAP, points((2, 0), (0, 1))).tolist() == [3, 4]


# RW-052: no index wraps around.
@pytest.mark.parametrize("point", [(0, 2), (3, 0), (-1, 0), (0, -1), (2.5, 0), (np.nan, 0)])
def test_a_point_outside_the_map_is_refused(point):
    with pytest.raises(MetricError, match="outside a depth map 3 wide and 2 high"):
        sample_depth(MAP, points((0, 0), point))


@pytest.mark.parametrize(
    ("point", "depth"),
    [((-0.5, 0), 1), ((0.49, 0), 1), ((0.5, 0), 2), ((2.49, 1.49), 6), ((1.2, 0.6), 5)],
)
def test_a_point_takes_the_pixel_that_it_lies_on(point, depth):
    assert sample_depth(MAP, points(point)).tolist() == [depth]


def test_no_points_read_nothing():
    assert sample_depth(MAP, points()).shape == (0,)
    assert is_inside(points(), MAP.shape).shape == (0,)


@pytest.mark.parametrize(
    "numbers",
    [
        np.ones(2),
        np.ones((2, 3)),
        np.ones((1, 2, 2)),
        np.ones((2, 2), bool),
        np.array([["a", "b"]]),
    ],
)
def test_what_cannot_be_points_is_none(numbers):
    assert as_points(numbers) is None


def test_points_are_a_copy_of_numbers_and_an_empty_list_is_none_at_all():
    numbers = np.array([[1, 2]], np.int32)
    found = as_points(numbers)
    numbers[0] = 9
    assert (found.tolist(), found.dtype) == ([[1, 2]], np.float64)
    assert as_points(np.array([])).shape == (0, 2)
