import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from rpx_depth.resize import resize_depth

shapes = array_shapes(min_dims=2, max_dims=2, max_side=12)
depths = shapes.flatmap(lambda shape: arrays(np.float32, shape, elements=st.floats(1, 9, width=32)))


@given(depths, shapes)
def test_map_without_holes_is_resized_as_pillow_does(depth, shape):
    picture = Image.fromarray(depth).resize(shape[::-1], Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(resize_depth(depth, shape), np.asarray(picture))


# RW-050: what was no depth mixes with nothing.
def test_hole_does_not_bleed_into_the_surface():
    depth = np.array([[2, 0], [2, 2]], np.float32)
    assert resize_depth(depth, (1, 1)).tolist() == [[2]]
    larger = resize_depth(depth, (8, 8))
    assert set(np.unique(larger)) == {0, 2}
    assert np.argwhere(larger == 0).tolist() == [[y, x] for y in range(4) for x in range(4, 8)]


@given(depths, shapes, st.data())
def test_depths_stay_between_those_around_and_holes_keep_their_value(depth, shape, data):
    hole = data.draw(st.sampled_from([0, -3, np.nan, np.inf, -np.inf]))
    depth[data.draw(arrays(np.bool_, depth.shape))] = hole
    resized = resize_depth(depth, shape)
    assert resized.shape == shape
    assert resized.dtype == np.float32
    rows = [(2 * y + 1) * depth.shape[0] // (2 * shape[0]) for y in range(shape[0])]
    columns = [(2 * x + 1) * depth.shape[1] // (2 * shape[1]) for x in range(shape[1])]
    near = depth[np.ix_(rows, columns)]
    is_hole = ~((near > 0) & np.isfinite(near))
    np.testing.assert_array_equal(resized[is_hole], near[is_hole])
    known = depth[(depth > 0) & np.isfinite(depth)]
    if known.size:
        assert np.all(resized[~is_hole] >= known.min() * (1 - 1e-6))
        assert np.all(resized[~is_hole] <= known.max() * (1 + 1e-6))


@given(depths, shapes)
def test_resizing_changes_no_input(depth, shape):
    depth[0, 0] = np.nan
    before = depth.tobytes()
    resize_depth(depth, shape)
    assert depth.tobytes() == before
