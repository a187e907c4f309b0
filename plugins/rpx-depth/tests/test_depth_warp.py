import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpx_core.errors import MetricError
from rpx_core.warp import (
    ChangeSums,
    View,
    compare_changes,
    depth_change,
    label_change,
    match_pixels,
    temporal_stability,
)
from rpx_depth.published_stability import published_temporal_stability_depth

K = np.array([[100.0, 0, 3.0], [0, 80.0, 2.0], [0, 0, 1]])
SHAPE = (5, 8)


def at(translation=(0, 0, 0), rotation=None) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = np.eye(3) if rotation is None else rotation
    pose[:3, 3] = translation
    return pose


def turn(axis, angle) -> np.ndarray:
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def flat(depth=2.0, pose=None) -> View:
    return View(np.full(SHAPE, depth), K, at() if pose is None else pose)


def pixels(indices) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in zip(*np.divmod(indices, 8), strict=True)]


def test_a_still_camera_pairs_every_pixel_with_itself():
    pairs = match_pixels(flat(), flat())
    np.testing.assert_array_equal(pairs.source, np.arange(40))
    np.testing.assert_array_equal(pairs.target, np.arange(40))
    assert (pairs.truth_pixels, pairs.landed, pairs.coverage) == (40, 40, 1.0)


def test_moving_right_moves_the_image_left():
    pairs = match_pixels(flat(), flat(pose=at((0.04, 0, 0))))
    expected = [((row, column), (row, column - 2)) for row in range(5) for column in range(2, 8)]
    assert list(zip(pixels(pairs.source), pixels(pairs.target), strict=True)) == expected
    assert pairs.coverage == 30 / 40


def test_moving_down_moves_the_image_up_by_its_own_focal_length():
    pairs = match_pixels(flat(), flat(pose=at((0, 0.05, 0))))
    assert pixels(pairs.source)[0] == (2, 0)
    assert pixels(pairs.target)[0] == (0, 0)


def test_moving_forward_brings_the_surface_nearer_and_spreads_the_image():
    source, target = flat(2.0), flat(1.0, at((0, 0, 1.0)))
    pairs = match_pixels(source, target)
    np.testing.assert_array_equal(depth_change(source.depth, target.depth, pairs), -1.0)
    matched = dict(zip(pixels(pairs.source), pixels(pairs.target), strict=True))
    # Distances from the principal point (column 3, row 2) double.
    assert matched[(2, 3)] == (2, 3)
    assert matched[(1, 5)] == (0, 7)
    assert (2, 6) not in matched


def test_only_relative_motion_counts():
    world = at((3, -2, 1), turn((1, 2, 3), 0.7))
    motion = at((0.04, 0, 0))
    pairs = match_pixels(flat(pose=world), flat(pose=world @ motion))
    reference = match_pixels(flat(), flat(pose=motion))
    np.testing.assert_array_equal(pairs.source, reference.source)
    np.testing.assert_array_equal(pairs.target, reference.target)


def test_of_two_points_on_one_pixel_the_nearer_stays():
    # 0.04 m to the right shifts by 1 pixel at 4 m and by 2 at 2 m: both land in column 5.
    source = np.zeros(SHAPE)
    source[1, 6], source[1, 7] = 4.0, 2.0
    target = flat(3.0, at((0.04, 0, 0)))
    pairs = match_pixels(View(source, K, at()), target, tolerance=0.4)
    assert (pixels(pairs.source), pixels(pairs.target)) == ([(1, 7)], [(1, 5)])
    assert (pairs.truth_pixels, pairs.landed) == (2, 2)


def test_of_equally_near_points_the_lower_index_stays():
    third = View(np.full((2, 3), 2.0), K / [[3], [3], [1]], at())
    pairs = match_pixels(flat(2.0), third)
    assert (pairs.landed, pairs.target.tolist()) == (40, [0, 1, 2, 3, 4, 5])
    assert pixels(pairs.source) == [(0, 0), (0, 2), (0, 5), (2, 0), (2, 2), (2, 5)]


@pytest.mark.parametrize(("measured", "kept"), [(2.0, 40), (1.95, 40), (1.8, 0), (2.3, 0), (0, 0)])
def test_a_point_the_target_does_not_see_is_dropped(measured, kept):
    pairs = match_pixels(flat(2.0), flat(measured))
    assert (pairs.target.size, pairs.landed) == (kept, 40)


def test_tolerance_is_relative_to_the_target():
    assert match_pixels(flat(2.0), flat(2.3), tolerance=0.14).target.size == 40
    assert match_pixels(flat(20.0), flat(20.9)).target.size == 40


@pytest.mark.parametrize("hole", [0.0, np.nan, np.inf, -1.0])
def test_holes_are_not_carried(hole):
    depth = np.full(SHAPE, hole)
    depth[0, 0] = 2.0
    pairs = match_pixels(View(depth, K, at()), flat())
    assert (pairs.truth_pixels, pairs.target.tolist()) == (1, [0])


def test_points_behind_or_beside_the_camera_land_nowhere():
    assert match_pixels(flat(), flat(pose=at(rotation=turn((0, 1, 0), np.pi)))).landed == 0
    assert match_pixels(flat(), flat(pose=at((0, 0, 2.0)))).landed == 0
    assert match_pixels(flat(), flat(pose=at((0, 0, 5.0)))).landed == 0


def test_no_truth_has_no_coverage():
    assert match_pixels(flat(0.0), flat()).coverage is None


def slow_match(source: View, target: View, tolerance: float) -> dict[int, int]:
    """Point by point, in homogeneous coordinates: target index to source index."""
    best: dict[int, tuple[float, int]] = {}
    height, width = target.depth.shape
    for index, depth in enumerate(source.depth.reshape(-1)):
        if not depth > 0:
            continue
        v, u = divmod(index, source.depth.shape[1])
        point = np.append(np.linalg.inv(source.intrinsics) @ [u, v, 1] * depth, 1)
        seen = np.linalg.inv(target.pose) @ source.pose @ point
        if seen[2] <= 0:
            continue
        column, row, _ = np.rint(target.intrinsics @ seen[:3] / seen[2]).astype(int)
        if 0 <= column < width and 0 <= row < height:
            key = int(row * width + column)
            best[key] = min(best.get(key, (np.inf, -1)), (seen[2], index))
    measured = target.depth.reshape(-1)
    return {
        key: source_index
        for key, (depth, source_index) in best.items()
        if measured[key] > 0 and abs(depth - measured[key]) <= tolerance * measured[key]
    }


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_it_agrees_with_warping_point_by_point(seed):
    rng = np.random.default_rng(seed)
    views = []
    for shape in ((9, 12), (7, 13)):
        depth = rng.uniform(1, 3, shape) * (rng.random(shape) > 0.2)
        camera = np.array([[14.0, 0.3, 6.2], [0, 12.0, 4.1], [0, 0, 1]])
        pose = at(rng.normal(0, 0.2, 3), turn(rng.normal(size=3), 0.2))
        views.append(View(depth, camera, pose))
    pairs = match_pixels(*views, tolerance=0.3)
    matched = dict(zip(pairs.target.tolist(), pairs.source.tolist(), strict=True))
    assert matched == slow_match(*views, tolerance=0.3)
    assert len(set(pairs.source.tolist())) == pairs.source.size


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (View(np.ones(4), K, at()), "height x width"),
        (View(np.ones(SHAPE), np.eye(4), at()), "3x3 and 4x4"),
        (View(np.ones(SHAPE), K, np.eye(3)), "3x3 and 4x4"),
        (View(np.ones(SHAPE), np.zeros((3, 3)), at()), "singular"),
        (View(np.ones(SHAPE), K, np.full((4, 4), np.nan)), "NaN or infinity"),
    ],
)
def test_malformed_cameras_are_refused(view, message):
    with pytest.raises(MetricError, match=message):
        match_pixels(view, flat())


def stability(predictions, truths) -> tuple[float | None, ChangeSums]:
    pairs = match_pixels(flat(2.0), flat(2.0))
    sums = compare_changes(depth_change(*predictions, pairs), depth_change(*truths, pairs))
    return temporal_stability(sums), sums


def moving(*changes) -> tuple[np.ndarray, np.ndarray]:
    before = np.full(SHAPE, 2.0)
    after = before.copy()
    after.reshape(-1)[: len(changes)] += changes
    return before, after


def test_truth_is_stable_and_a_constant_is_not():
    truths = moving(0.25, -0.5, 0.25)
    assert stability(truths, truths)[0] == 1.0
    assert stability(moving(), truths)[0] == 0.0


def test_stability_is_the_share_of_change_that_was_followed():
    value, sums = stability(moving(0.25, -0.25, 0, 0.25), moving(0.5, -0.5))
    assert (sums.error, sums.true_change, sums.pairs, sums.answered) == (0.75, 1.0, 40, 40)
    assert value == 0.25


def test_opposite_change_is_worse_than_none():
    assert stability(moving(-0.5), moving(0.5))[0] == -1.0


def test_a_constant_offset_is_stable():
    before, after = moving(0.25, -0.5)
    assert stability((before + 1, after + 1), (before, after))[0] == 1.0


def test_nothing_changed_is_undefined():
    assert stability(moving(0.5), moving())[0] is None
    assert temporal_stability(ChangeSums()) is None


@pytest.mark.parametrize("answer", [np.nan, np.inf, 0.0, -1.0])
def test_unanswered_pixels_leave_error_and_change_but_not_the_pairs(answer):
    truths = moving(0.5, 0.5)
    before, after = moving(0.5, 0.5)
    after[0, 0] = answer
    value, sums = stability((before, after), truths)
    assert (value, sums.pairs, sums.answered, sums.true_change) == (1.0, 40, 39, 0.5)


def test_pairs_of_frames_add_up():
    _, a = stability(moving(0.25), moving(0.5))
    _, b = stability(moving(), moving(1.5))
    assert temporal_stability(a + b) == 1 - 1.75 / 2.0


def test_labels_change_along_the_same_pairs():
    pairs = match_pixels(flat(), flat(pose=at((0.04, 0, 0))))
    before = np.tile(np.arange(8), (5, 1))
    carried = np.roll(before, -2, axis=1)
    assert label_change(before, carried, pairs).sum() == 0
    flipped = carried.copy()
    flipped[0, :3] = 99
    true = label_change(before, flipped, pairs)
    assert true.sum() == 3
    assert temporal_stability(compare_changes(true, true)) == 1.0
    assert temporal_stability(compare_changes(np.zeros_like(true), true)) == 0.0


def test_published_example():
    scores = published_temporal_stability_depth(
        [np.array([[1, 2, 3]]), np.array([[1.1, 2, 2.9]])], [None, None]
    )
    assert scores == pytest.approx((0.9667,), abs=5e-5)


def test_published_score_ignores_all_but_roll():
    frames = [np.array([[1.0, 2, 3]]), np.array([[1.1, 2, 2.9]])]
    poses = [at((1, 2, 3)), at((9, 9, 9), turn((1, 0, 0), 0.3))]
    assert published_temporal_stability_depth(frames, poses) == pytest.approx((0.9667,), abs=5e-5)


def test_published_warp_turns_about_half_width_and_height():
    later = np.arange(1.0, 17.0).reshape(4, 4)
    # A quarter turn: row r, column c shows row c, column 4 - r; row 0 comes from outside.
    turned = np.zeros((4, 4))
    turned[1:] = later[:, :0:-1].T
    earlier = turned.copy()
    earlier[0] = 50.0
    poses = [at(), at(rotation=turn((0, 0, 1), np.pi / 2))]
    assert published_temporal_stability_depth([earlier, later], poses) == pytest.approx((1.0,))
    assert published_temporal_stability_depth([earlier, later], poses[::-1])[0] < 0.9


def test_published_warp_is_bilinear_with_zeros_outside():
    poses = [at(), at(rotation=turn((0, 0, 1), np.pi / 4))]
    later = np.full((2, 2), 8.0)
    # About (1, 1), an eighth turn samples pixel (0, 0) 0.414 above the image and pixel (0, 1)
    # 0.707 to its right; the other two lie inside.
    earlier = np.array([[8 * (2 - np.sqrt(2)), 8 * (1 - np.sqrt(0.5))], [8.0, 8.0]])
    (score,) = published_temporal_stability_depth([earlier, later], poses)
    assert score == pytest.approx(1.0, abs=1e-6)


def test_published_sentinels_are_kept():
    empty, full = np.zeros((2, 2)), np.ones((2, 2))
    assert published_temporal_stability_depth([empty, full, full], [None] * 3) == (1.0, 1.0)
    assert published_temporal_stability_depth([full], [None]) == ()


def test_published_score_needs_a_pose_or_none_per_frame():
    with pytest.raises(MetricError, match="2 depth maps with 1 poses"):
        published_temporal_stability_depth([np.ones((2, 2))] * 2, [None])
