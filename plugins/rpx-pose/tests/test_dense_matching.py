"""Matches from maps of features: mutual, and finer than the cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_pose.dense_matching import FeatureMap, match_points


def waves(rows: int, columns: int, *, shift: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Smooth features (channels, rows, columns) of places moved by a number of cells.

    How similar two places are depends on their distance alone, as cosines and sines come in pairs.
    """
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:rows, :columns].astype(np.float64)
    frequencies = rng.uniform(-0.6, 0.6, (32, 2))
    inside = (x - shift[0])[None] * frequencies[:, 0, None, None]
    inside = inside + (y - shift[1])[None] * frequencies[:, 1, None, None]
    return np.concatenate([np.cos(inside), np.sin(inside)]).astype(np.float32)


def grid(rows: int, columns: int, shape: tuple[int, int], **shift: tuple[float, float]):
    return FeatureMap.from_array(waves(rows, columns, **shift), shape)


def test_pixels_and_cells_are_inverse_and_centres_lie_in_the_middle() -> None:
    features = grid(6, 8, (48, 128))
    np.testing.assert_allclose(features.to_pixels(np.zeros((1, 2))), [[7.5, 3.5]])
    centres = features.centres()
    assert centres.shape == (48, 2)
    np.testing.assert_allclose(features.to_pixels(features.to_cells(centres)), centres)


def test_a_feature_at_a_centre_is_the_cell_s_own() -> None:
    features = grid(6, 8, (48, 64))
    np.testing.assert_allclose(features.at(features.centres()), features.features, atol=1e-6)


def test_an_image_matches_itself_where_it_is() -> None:
    features = grid(12, 16, (96, 128))
    points0, points1, scores = match_points(features, features, features.centres())
    assert len(points0) == 12 * 16
    np.testing.assert_allclose(points1, points0, atol=1e-4)
    np.testing.assert_allclose(scores, 1, atol=1e-6)


@given(dx=st.floats(-2, 2), dy=st.floats(-2, 2))
def test_a_shift_is_found_to_a_tenth_of_a_cell(dx: float, dy: float) -> None:
    first, second = grid(14, 18, (112, 144)), grid(14, 18, (112, 144), shift=(dx, dy))
    inner = first.centres().reshape(14, 18, 2)[4:-4, 4:-4].reshape(-1, 2)
    points0, points1, _ = match_points(first, second, inner)
    assert len(points0) == len(inner)
    np.testing.assert_allclose(points1 - points0, [[8 * dx, 8 * dy]] * len(inner), atol=0.8)


def test_images_of_different_sizes_match_in_their_own_pixels() -> None:
    first, second = grid(12, 16, (96, 128)), grid(12, 16, (192, 128))
    points0, points1, _ = match_points(first, second, first.centres())
    np.testing.assert_allclose(points1[:, 0], points0[:, 0], atol=0.5)
    np.testing.assert_allclose((points1[:, 1] + 0.5) / 2 - 0.5, points0[:, 1], atol=0.5)


def test_a_place_that_is_not_in_the_other_image_has_no_match() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(64, 8, 8)).astype(np.float32)
    other = rng.normal(size=(64, 8, 8)).astype(np.float32)
    other[:, :, :4] = values[:, :, 4:]
    first = FeatureMap.from_array(values, (64, 64))
    second = FeatureMap.from_array(other, (64, 64))
    points0, points1, scores = match_points(first, second, first.centres())
    seen = points0[:, 0] >= 32
    assert seen.sum() == 32
    np.testing.assert_allclose(points1[seen] - points0[seen], [[-32, 0]] * 32, atol=4)
    assert scores[~seen].size == 0 or scores[~seen].max() < scores[seen].min()


def test_a_flat_image_matches_without_a_warning() -> None:
    flat = FeatureMap.from_array(np.zeros((4, 3, 3), np.float32), (24, 24))
    _, points1, scores = match_points(flat, flat, flat.centres())
    assert np.isfinite(points1).all()
    assert (scores == 0).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
def test_maps_of_one_row_or_column_are_maps(shape: tuple[int, int]) -> None:
    features = grid(*shape, (8, 8))
    points0, _, _ = match_points(features, features, features.centres())
    assert len(points0) == shape[0] * shape[1]


def test_no_points_give_no_matches() -> None:
    features = grid(4, 4, (32, 32))
    points0, points1, scores = match_points(features, features, np.zeros((0, 2)))
    assert points0.shape == points1.shape == (0, 2)
    assert scores.shape == (0,)
