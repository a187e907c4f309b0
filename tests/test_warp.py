"""Which pixel of another view sees a surface point, on scenes whose answer is known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from rpx_core.errors import MetricError
from rpx_core.warp import Camera, View, match_pixels, project

K = np.array([[100.0, 0, 3.0], [0, 80.0, 2.0], [0, 0, 1]])
SHAPE = (5, 8)

Floats = NDArray[np.float64]


def at(translation: ArrayLike = (0, 0, 0), rotation: Floats | None = None) -> Floats:
    pose = np.eye(4)
    pose[:3, :3] = np.eye(3) if rotation is None else rotation
    pose[:3, 3] = translation
    return pose


def turn(axis: ArrayLike, angle: float) -> Floats:
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def flat(depth: float = 2.0, pose: Floats | None = None) -> View:
    return View(np.full(SHAPE, depth), Camera(K, at() if pose is None else pose))


def pixels(indices: NDArray[np.int64]) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in zip(*np.divmod(indices, 8), strict=True)]


def test_a_still_camera_pairs_every_pixel_with_itself() -> None:
    pairs = match_pixels(flat(), flat())
    np.testing.assert_array_equal(pairs.source, np.arange(40))
    np.testing.assert_array_equal(pairs.target, np.arange(40))
    assert (pairs.truth_pixels, pairs.landed, pairs.coverage) == (40, 40, 1.0)


def test_moving_right_moves_the_image_left() -> None:
    pairs = match_pixels(flat(), flat(pose=at((0.04, 0, 0))))
    expected = [((row, column), (row, column - 2)) for row in range(5) for column in range(2, 8)]
    assert list(zip(pixels(pairs.source), pixels(pairs.target), strict=True)) == expected
    assert pairs.coverage == 30 / 40


def test_moving_down_moves_the_image_up_by_its_own_focal_length() -> None:
    pairs = match_pixels(flat(), flat(pose=at((0, 0.05, 0))))
    assert pixels(pairs.source)[0] == (2, 0)
    assert pixels(pairs.target)[0] == (0, 0)


def test_moving_forward_brings_the_surface_nearer_and_spreads_the_image() -> None:
    source, target = flat(2.0), flat(1.0, at((0, 0, 1.0)))
    pairs = match_pixels(source, target)
    before, now = pairs.values(source.depth, target.depth)
    np.testing.assert_array_equal(now - before, -1.0)
    matched = dict(zip(pixels(pairs.source), pixels(pairs.target), strict=True))
    # Distances from the principal point (column 3, row 2) double.
    assert matched[(2, 3)] == (2, 3)
    assert matched[(1, 5)] == (0, 7)
    assert (2, 6) not in matched


def test_only_relative_motion_counts() -> None:
    world = at((3, -2, 1), turn((1, 2, 3), 0.7))
    motion = at((0.04, 0, 0))
    pairs = match_pixels(flat(pose=world), flat(pose=world @ motion))
    reference = match_pixels(flat(), flat(pose=motion))
    np.testing.assert_array_equal(pairs.source, reference.source)
    np.testing.assert_array_equal(pairs.target, reference.target)


def test_of_two_points_on_one_pixel_the_nearer_stays() -> None:
    # 0.04 m to the right shifts by 1 pixel at 4 m and by 2 at 2 m: both land in column 5.
    source = np.zeros(SHAPE)
    source[1, 6], source[1, 7] = 4.0, 2.0
    target = flat(3.0, at((0.04, 0, 0)))
    pairs = match_pixels(View(source, Camera(K, at())), target, tolerance=0.4)
    assert (pixels(pairs.source), pixels(pairs.target)) == ([(1, 7)], [(1, 5)])
    assert (pairs.truth_pixels, pairs.landed) == (2, 2)


def test_of_equally_near_points_the_lower_index_stays() -> None:
    third = View(np.full((2, 3), 2.0), Camera(K / [[3], [3], [1]], at()))
    pairs = match_pixels(flat(2.0), third)
    assert (pairs.landed, pairs.target.tolist()) == (40, [0, 1, 2, 3, 4, 5])
    assert pixels(pairs.source) == [(0, 0), (0, 2), (0, 5), (2, 0), (2, 2), (2, 5)]


@pytest.mark.parametrize(("measured", "kept"), [(2.0, 40), (1.95, 40), (1.8, 0), (2.3, 0), (0, 0)])
def test_a_point_the_target_does_not_see_is_dropped(measured: float, kept: int) -> None:
    pairs = match_pixels(flat(2.0), flat(measured))
    assert (pairs.target.size, pairs.landed) == (kept, 40)


def test_tolerance_is_relative_to_the_target() -> None:
    assert match_pixels(flat(2.0), flat(2.3), tolerance=0.14).target.size == 40
    assert match_pixels(flat(20.0), flat(20.9)).target.size == 40


@pytest.mark.parametrize("hole", [0.0, np.nan, np.inf, -1.0])
def test_holes_are_not_carried(hole: float) -> None:
    depth = np.full(SHAPE, hole)
    depth[0, 0] = 2.0
    pairs = match_pixels(View(depth, Camera(K, at())), flat())
    assert (pairs.truth_pixels, pairs.target.tolist()) == (1, [0])


def test_points_behind_or_beside_the_camera_land_nowhere() -> None:
    assert match_pixels(flat(), flat(pose=at(rotation=turn((0, 1, 0), np.pi)))).landed == 0
    assert match_pixels(flat(), flat(pose=at((0, 0, 2.0)))).landed == 0
    assert match_pixels(flat(), flat(pose=at((0, 0, 5.0)))).landed == 0


def test_no_truth_has_no_coverage() -> None:
    assert match_pixels(flat(0.0), flat()).coverage is None


def slow_match(source: View, target: View, tolerance: float) -> dict[int, int]:
    """Point by point, in homogeneous coordinates: target index to source index."""
    best: dict[int, tuple[float, int]] = {}
    height, width = target.depth.shape
    for index, depth in enumerate(source.depth.reshape(-1)):
        if not depth > 0:
            continue
        v, u = divmod(index, source.depth.shape[1])
        point = np.append(np.linalg.inv(source.camera.intrinsics) @ [u, v, 1] * depth, 1)
        seen = np.linalg.inv(target.camera.pose) @ source.camera.pose @ point
        if seen[2] <= 0:
            continue
        column, row, _ = np.rint(target.camera.intrinsics @ seen[:3] / seen[2]).astype(int)
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
def test_it_agrees_with_warping_point_by_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    views = []
    for shape in ((9, 12), (7, 13)):
        depth = rng.uniform(1, 3, shape) * (rng.random(shape) > 0.2)
        camera = np.array([[14.0, 0.3, 6.2], [0, 12.0, 4.1], [0, 0, 1]])
        pose = at(rng.normal(0, 0.2, 3), turn(rng.normal(size=3), 0.2))
        views.append(View(depth, Camera(camera, pose)))
    pairs = match_pixels(*views, tolerance=0.3)
    matched = dict(zip(pairs.target.tolist(), pairs.source.tolist(), strict=True))
    assert matched == slow_match(*views, tolerance=0.3)
    assert len(set(pairs.source.tolist())) == pairs.source.size


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (View(np.ones(4), Camera(K, at())), "height x width"),
        (View(np.ones(SHAPE), Camera(np.eye(4), at())), "3x3 and 4x4"),
        (View(np.ones(SHAPE), Camera(K, np.eye(3))), "3x3 and 4x4"),
        (View(np.ones(SHAPE), Camera(np.zeros((3, 3)), at())), "singular"),
        (View(np.ones(SHAPE), Camera(K, np.full((4, 4), np.nan))), "NaN or infinity"),
    ],
)
def test_malformed_cameras_are_refused(view: View, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        match_pixels(view, flat())
    with pytest.raises(MetricError, match=message):
        project(view, flat().camera)


def test_a_target_that_is_no_map_is_refused() -> None:
    with pytest.raises(MetricError, match="height x width"):
        match_pixels(flat(), View(np.ones(4), Camera(K, at())))


def test_values_at_both_ends_are_those_of_the_surface_points() -> None:
    pairs = match_pixels(flat(), flat(pose=at((0.04, 0, 0))))
    columns = np.tile(np.arange(8), (5, 1))
    before, now = pairs.values(columns, columns)
    np.testing.assert_array_equal(before - now, 2)
    colours = np.stack([columns, 10 * columns], axis=-1)
    before, now = pairs.values(colours, colours)
    np.testing.assert_array_equal(before - now, [[2, 20]] * 30)


def test_blocks_and_selections_are_parts_of_the_pairs() -> None:
    wide = View(np.full((120, 160), 2.0), Camera(K, at()))
    pairs = match_pixels(wide, wide)
    parts = list(pairs.blocks())
    assert len(parts) > 1
    assert {part.truth_pixels for part in parts} == {pairs.truth_pixels}
    np.testing.assert_array_equal(np.concatenate([part.target for part in parts]), pairs.target)
    odd = pairs.select(pairs.source % 2 == 1)
    np.testing.assert_array_equal(odd.source, np.arange(1, 120 * 160, 2))


def test_astronomic_depths_land_nowhere() -> None:
    for huge in (np.float32(3e38), np.float64(1e308)):
        source = View(np.full(SHAPE, huge), Camera(K, at()))
        assert match_pixels(source, flat(pose=at((0, 0, -1.0)))).target.size == 0


def test_projected_points_have_the_place_and_depth_that_the_camera_sees() -> None:
    points = project(flat(), Camera(K, at((0.04, 0.05, 1.0))))
    rows, columns = np.divmod(points.origin, SHAPE[1])
    np.testing.assert_allclose(points.depth, 1)
    np.testing.assert_allclose(points.column, 3 + 2 * (columns - 3) - 4)
    np.testing.assert_allclose(points.row, 2 + 2 * (rows - 2) - 4)


def test_turning_right_moves_points_left() -> None:
    ahead = View(np.full((1, 1), 2.0), Camera(np.diag([20.0, 20, 1]), at()))
    # About y, which points down: positive angles turn to the right.
    turned = Camera(ahead.camera.intrinsics, at(rotation=turn((0, 1, 0), np.radians(5))))
    (column,) = project(ahead, turned).column
    assert column == pytest.approx(-20 * np.tan(np.radians(5)))


def test_each_camera_has_its_own_intrinsics() -> None:
    shifted = K + np.array([[0, 0, 3.0], [0, 0, 0], [0, 0, 0]])
    points = project(flat(), Camera(shifted, at()))
    np.testing.assert_allclose(points.column, points.origin % SHAPE[1] + 3)


def test_projection_leaves_out_holes_and_what_lies_behind() -> None:
    depth = np.full(SHAPE, 2.0)
    depth[0] = 0
    assert project(View(depth, Camera(K, at())), Camera(K, at((0, 0, 2.5)))).origin.size == 0
    whole = project(View(depth, Camera(K, at())), Camera(K, at()))
    assert whole.origin.tolist() == list(range(8, 40))


def test_points_land_on_the_nearest_pixel_or_beside_the_image() -> None:
    points = project(flat(), Camera(K, at((0.048, 0, 0))))
    landed, places = points.land(SHAPE)
    # 2.4 pixels to the left: two columns leave.
    np.testing.assert_array_equal(points.origin[landed] - places, 2)
    assert landed.size == 30
