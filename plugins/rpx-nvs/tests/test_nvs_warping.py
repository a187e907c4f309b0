"""Visibility and forward warping on scenes whose answer is known by hand."""

import numpy as np

from rpx_core.warp import Camera, View
from rpx_nvs.splatting import ColouredView, fill_depth, fill_holes, splat
from rpx_nvs.visibility import HIDDEN, SEEN, UNKNOWN, find_seen

# At depth 2 m, a shift of 0.2 m is 2 px.
INTRINSICS = np.array([[20.0, 0, 4], [0, 20.0, 2], [0, 0, 1]])
SHAPE = (5, 9)
RNG = np.random.default_rng(7)


def camera(x=0.0):
    pose = np.eye(4)
    pose[0, 3] = x
    return Camera(INTRINSICS, pose)


def wall(depth=2.0):
    return np.full(SHAPE, depth, np.float32)


def picture():
    return RNG.integers(0, 256, (*SHAPE, 3), np.uint8)


def test_what_leaves_the_source_image_is_hidden():
    seen = find_seen(View(wall(), camera(x=0.2)), [View(wall(), camera())])
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
    seen = find_seen(View(target, camera(x=0.2)), [View(near, camera())])
    assert seen[0].tolist() == [SEEN, SEEN, SEEN, HIDDEN, SEEN, SEEN, SEEN, SEEN, HIDDEN]


def test_missing_depth_is_unknown_on_either_side():
    target, source = wall(), wall()
    target[:, 0], source[:, 5] = 0, np.nan
    seen = find_seen(View(target, camera()), [View(source, camera())])
    assert seen[0].tolist() == [UNKNOWN, *[SEEN] * 4, UNKNOWN, *[SEEN] * 3]


def test_one_view_that_sees_is_enough_and_one_that_may_leaves_it_open():
    target = View(wall(), camera(x=0.2))
    left, right = View(wall(), camera()), View(wall(), camera(x=0.4))
    blind = View(wall(0.0), camera(x=0.4))
    assert (find_seen(target, [left, right]) == SEEN).all()
    assert (find_seen(target, [left, blind])[:, 7:] == UNKNOWN).all()
    assert (find_seen(target, [left])[:, 7:] == HIDDEN).all()


def test_standing_still_gives_the_image_back():
    rgb = picture()
    colour, depth = splat([ColouredView(rgb, View(wall(), camera()))], camera(), SHAPE)
    np.testing.assert_allclose(colour, rgb, atol=1e-9)
    np.testing.assert_allclose(depth, 2)


def test_whole_pixel_shift_moves_the_image_and_leaves_a_gap():
    rgb = picture()
    colour, depth = splat([ColouredView(rgb, View(wall(), camera()))], camera(x=0.2), SHAPE)
    np.testing.assert_allclose(colour[:, :7], rgb[:, 2:], atol=1e-9)
    assert (depth[:, 7:] == 0).all()


def test_half_pixel_shift_blends_neighbours():
    rgb = picture()
    colour, _ = splat([ColouredView(rgb, View(wall(), camera()))], camera(x=0.05), SHAPE)
    mean = (rgb[:, :-1].astype(float) + rgb[:, 1:]) / 2
    np.testing.assert_allclose(colour[:, :-1], mean, atol=1e-6)


def test_nearer_surface_hides_the_farther_one():
    rgb, depth = picture(), wall(4.0)
    depth[:, 4] = 2.0
    colour, arriving = splat([ColouredView(rgb, View(depth, camera()))], camera(x=0.2), SHAPE)
    # Column 4 lands on 2, where wall column 3 lands too.
    np.testing.assert_allclose(colour[:, 2], rgb[:, 4], atol=1e-9)
    np.testing.assert_allclose(arriving[:, 2], 2)


def test_several_views_complete_each_other():
    rgb = picture()
    views = [
        ColouredView(rgb, View(wall(), camera())),
        ColouredView(np.roll(rgb, -4, axis=1), View(wall(), camera(x=0.4))),
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
