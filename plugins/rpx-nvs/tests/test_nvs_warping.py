"""Projection, visibility and forward warping on scenes whose answer is known by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.warp import View, match_pixels
from rpx_nvs.projection import Camera, project
from rpx_nvs.splatting import ColouredView, fill_depth, fill_holes, splat
from rpx_nvs.visibility import HIDDEN, SEEN, UNKNOWN, DepthView, find_seen

# At depth 2 m, a shift of 0.2 m is 2 px.
INTRINSICS = np.array([[20.0, 0, 4], [0, 20.0, 2], [0, 0, 1]])
SHAPE = (5, 9)
RNG = np.random.default_rng(7)


def camera(x=0.0, y=0.0, z=0.0, intrinsics=INTRINSICS):
    pose = np.eye(4)
    pose[:3, 3] = (x, y, z)
    return Camera(intrinsics, pose)


def turned(degrees):
    """A camera at the origin that looks to the right by this angle."""
    angle = np.radians(degrees)
    pose = np.eye(4)
    pose[:3, :3] = [
        [np.cos(angle), 0, np.sin(angle)],
        [0, 1, 0],
        [-np.sin(angle), 0, np.cos(angle)],
    ]
    return Camera(INTRINSICS, pose)


def wall(depth=2.0):
    return np.full(SHAPE, depth, np.float32)


def picture():
    return RNG.integers(0, 256, (*SHAPE, 3), np.uint8)


def test_moving_right_moves_points_left():
    points = project(wall(), camera(), camera(x=0.2))
    rows, columns = np.divmod(points.origin, SHAPE[1])
    np.testing.assert_allclose(points.column, columns - 2, atol=1e-9)
    np.testing.assert_allclose(points.row, rows, atol=1e-9)
    np.testing.assert_allclose(points.depth, 2)


def test_moving_down_moves_points_up_and_ahead_brings_them_nearer():
    points = project(wall(), camera(), camera(y=0.1, z=1.0))
    rows, columns = np.divmod(points.origin, SHAPE[1])
    np.testing.assert_allclose(points.depth, 1)
    np.testing.assert_allclose(points.column, 4 + 2 * (columns - 4), atol=1e-9)
    np.testing.assert_allclose(points.row, 2 + 2 * (rows - 2) - 2, atol=1e-9)


def test_turning_right_moves_points_left():
    (point,) = project(wall()[2:3, 4:5], camera(), turned(5)).column - 4
    # The pixel of the optical axis of a camera whose principal point is elsewhere.
    centred = np.array([[20.0, 0, 0], [0, 20.0, 0], [0, 0, 1]])
    (straight,) = project(
        wall()[2:3, 4:5], Camera(centred, np.eye(4)), Camera(centred, turned(5).pose)
    ).column
    assert point < 0
    assert straight == pytest.approx(-20 * np.tan(np.radians(5)))


def test_each_camera_has_its_own_intrinsics():
    shifted = INTRINSICS + np.array([[0, 0, 3.0], [0, 0, 0], [0, 0, 0]])
    points = project(wall(), camera(), camera(intrinsics=shifted))
    np.testing.assert_allclose(points.column, points.origin % SHAPE[1] + 3)


@given(st.floats(-0.5, 0.5), st.floats(-0.3, 0.3), st.floats(-1, 1))
def test_projection_agrees_with_the_core(x, y, z):
    depth = np.linspace(1.5, 4, 45).reshape(SHAPE).astype(np.float32)
    there = camera(x, y, z)
    points = project(depth, camera(), there)
    # A target that measures exactly what arrives pairs every point that lands alone.
    landed = np.zeros(SHAPE, np.float32)
    column, row = np.rint(points.column).astype(int), np.rint(points.row).astype(int)
    inside = (column >= 0) & (column < SHAPE[1]) & (row >= 0) & (row < SHAPE[0])
    landed[row[inside], column[inside]] = points.depth[inside]
    pairs = match_pixels(View(depth, INTRINSICS, np.eye(4)), View(landed, INTRINSICS, there.pose))
    place = dict(zip(points.origin[inside], (row * SHAPE[1] + column)[inside], strict=True))
    assert {int(s): int(t) for s, t in zip(pairs.source, pairs.target, strict=True)}.items() <= {
        int(s): int(t) for s, t in place.items()
    }.items()
    assert pairs.landed == np.count_nonzero(inside)


def test_points_behind_the_camera_and_holes_are_left_out():
    depth = wall()
    depth[0] = 0
    assert project(depth, camera(), camera(z=2.5)).origin.size == 0
    assert project(depth, camera(), camera()).origin.tolist() == list(range(9, 45))


def test_what_leaves_the_source_image_is_hidden():
    seen = find_seen(DepthView(wall(), camera(x=0.2)), [DepthView(wall(), camera())])
    # Target column c shows source column c + 2.
    assert (seen[:, :7] == SEEN).all()
    assert (seen[:, 7:] == HIDDEN).all()


def test_what_stands_behind_an_edge_is_hidden():
    near = wall(4.0)
    near[:, 3:5] = 2.0
    # The thing moves by 2 px, the wall by 1: target columns 1 and 2 show the thing, and the wall
    # beside them, column 3, was behind it in the source.
    target = wall(4.0)
    target[:, 1:3] = 2.0
    seen = find_seen(DepthView(target, camera(x=0.2)), [DepthView(near, camera())])
    assert seen[0].tolist() == [SEEN, SEEN, SEEN, HIDDEN, SEEN, SEEN, SEEN, SEEN, HIDDEN]


def test_missing_depth_is_unknown_on_either_side():
    target, source = wall(), wall()
    target[:, 0], source[:, 5] = 0, np.nan
    seen = find_seen(DepthView(target, camera()), [DepthView(source, camera())])
    assert seen[0].tolist() == [UNKNOWN, *[SEEN] * 4, UNKNOWN, *[SEEN] * 3]


def test_one_view_that_sees_is_enough_and_one_that_may_leaves_it_open():
    target = DepthView(wall(), camera(x=0.2))
    left, right = DepthView(wall(), camera()), DepthView(wall(), camera(x=0.4))
    blind = DepthView(wall(0.0), camera(x=0.4))
    assert (find_seen(target, [left, right]) == SEEN).all()
    assert (find_seen(target, [left, blind])[:, 7:] == UNKNOWN).all()
    assert (find_seen(target, [left])[:, 7:] == HIDDEN).all()


def test_standing_still_gives_the_image_back():
    rgb = picture()
    colour, depth = splat([ColouredView(rgb, wall(), camera())], camera(), SHAPE)
    np.testing.assert_allclose(colour, rgb, atol=1e-9)
    np.testing.assert_allclose(depth, 2)


def test_whole_pixel_shift_moves_the_image_and_leaves_a_gap():
    rgb = picture()
    colour, depth = splat([ColouredView(rgb, wall(), camera())], camera(x=0.2), SHAPE)
    np.testing.assert_allclose(colour[:, :7], rgb[:, 2:], atol=1e-9)
    assert (depth[:, 7:] == 0).all()


def test_half_pixel_shift_blends_neighbours():
    rgb = picture()
    colour, _ = splat([ColouredView(rgb, wall(), camera())], camera(x=0.05), SHAPE)
    mean = (rgb[:, :-1].astype(float) + rgb[:, 1:]) / 2
    np.testing.assert_allclose(colour[:, :-1], mean, atol=1e-6)


def test_nearer_surface_hides_the_farther_one():
    rgb, depth = picture(), wall(4.0)
    depth[:, 4] = 2.0
    colour, arriving = splat([ColouredView(rgb, depth, camera())], camera(x=0.2), SHAPE)
    # Column 4 lands on 2, where wall column 3 lands too.
    np.testing.assert_allclose(colour[:, 2], rgb[:, 4], atol=1e-9)
    np.testing.assert_allclose(arriving[:, 2], 2)


def test_several_views_complete_each_other():
    rgb = picture()
    views = [
        ColouredView(rgb, wall(), camera()),
        ColouredView(np.roll(rgb, -4, axis=1), wall(), camera(x=0.4)),
    ]
    alone = splat(views[:1], camera(x=0.2), SHAPE)[1]
    together = splat(views, camera(x=0.2), SHAPE)[1]
    assert (alone == 0).any()
    assert (together > 0).all()


def test_holes_take_the_farther_neighbour_of_their_row():
    depth = np.array([[1, 0, 0, 5, 0], [0, 0, 0, 0, 0], [0, 3, 0, 2, 0]], np.float32)
    colour = (10.0 * np.arange(15)).reshape(3, 5, 1).repeat(3, axis=2)
    filled = fill_holes(colour, depth)[..., 0]
    assert filled[0].tolist() == [0, 30, 30, 30, 30]
    assert filled[2].tolist() == [110, 110, 110, 130, 130]
    # An empty row copies the nearest that is not, the upper of two.
    assert filled[1].tolist() == filled[0].tolist()
    assert fill_depth(depth)[0].tolist() == [1, 5, 5, 5, 5]


def test_nothing_known_stays_as_it_is():
    nothing = wall(0.0)
    assert (fill_depth(nothing) == 0).all()
    assert (fill_depth(wall()) == 2).all()
