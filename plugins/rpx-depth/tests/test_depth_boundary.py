import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.errors import ConfigError, MetricError
from rpx_depth.boundary import relative_boundary

# Tinier depths would lose bits, or all of them, where a test scales them.
lengths = st.floats(2.0**-100, 20, width=32)
depths = arrays(np.float32, (6, 7), elements=lengths | st.sampled_from([0.0, np.nan]))


def flagged(mask) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(mask)]


def step(near=1.0, far=2.0) -> np.ndarray:
    """Four rows of five pixels; columns 0 to 2 near, 3 and 4 far."""
    depth = np.full((4, 5), near)
    depth[:, 3:] = far
    return depth


@pytest.mark.parametrize("shape", [(480, 640), (1, 1), (1, 5), (2, 2)])
def test_constant_map_has_no_boundary(shape):
    assert not relative_boundary(np.full(shape, 3.0, np.float32)).any()


def test_only_the_nearer_side_of_a_jump_is_marked():
    assert flagged(relative_boundary(step())) == [(row, 2) for row in range(4)]
    assert flagged(relative_boundary(step(2.0, 1.0))) == [(row, 3) for row in range(4)]


def test_jumps_between_rows_are_marked_too():
    assert flagged(relative_boundary(step().T)) == [(2, column) for column in range(4)]


def test_threshold_is_a_strict_share_of_the_nearer_depth():
    depth = np.array([[4.0, 5.0]])
    assert not relative_boundary(depth, 0.25).any()
    assert flagged(relative_boundary(depth, 0.249)) == [(0, 0)]


def test_a_thin_pole_is_marked_once_across():
    depth = np.array([[4.0, 1.0, 4.0]])
    assert flagged(relative_boundary(depth)) == [(0, 1)]


@pytest.mark.parametrize("hole", [0.0, np.nan, np.inf, -1.0])
def test_holes_make_no_boundary(hole):
    depth = np.full((5, 5), 2.0)
    depth[2, 2] = hole
    assert not relative_boundary(depth).any()


@given(depths, st.floats(0.5, 4, width=32))
def test_relative_boundary_does_not_depend_on_the_unit(depth, scale):
    power = np.float32(2.0 ** round(np.log2(scale)))
    np.testing.assert_array_equal(relative_boundary(depth), relative_boundary(depth * power))


@given(depths)
def test_relative_boundary_turns_with_the_map(depth):
    turned = relative_boundary(np.rot90(depth))
    np.testing.assert_array_equal(turned, np.rot90(relative_boundary(depth)))


def test_input_is_left_alone():
    depth = step()
    depth[0, 0] = np.nan
    copy = depth.copy()
    relative_boundary(depth)
    np.testing.assert_array_equal(depth, copy)


def test_nonsense_is_refused():
    with pytest.raises(MetricError, match="height x width"):
        relative_boundary(np.ones(4))
    with pytest.raises(ConfigError, match="not positive"):
        relative_boundary(np.ones((4, 4)), 0.0)
