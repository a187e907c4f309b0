"""Which predicted point answers which: one to one, in any order, and by the published rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_depth.point_matching import (
    MATCH_RADIUS_PX,
    match_points,
    matched_depths,
    nearest_depths,
)
from rpx_depth.types import SparseDepthPrediction

RULES = [matched_depths, nearest_depths]


def points(*pairs) -> np.ndarray:
    return np.array(pairs, np.float64).reshape(-1, 2)


def predict(at, depths) -> SparseDepthPrediction:
    return SparseDepthPrediction(at, np.array(depths, np.float64))


@pytest.mark.parametrize("rule", RULES)
def test_depths_at_the_same_points_are_taken_one_by_one(rule):
    twice = points((4, 4), (4, 4), (5, 4))
    np.testing.assert_array_equal(rule(twice, predict(twice, [1, 2, 3])), [1, 2, 3])


@pytest.mark.parametrize("rule", RULES)
def test_the_nearest_predicted_point_answers_within_two_pixels(rule):
    prediction = predict(points((11, 10), (12, 10), (50, 52.5), (30, 32)), [2.2, 7, 4, 5])
    matched = rule(points((10, 10), (13.5, 10), (50, 50), (30, 30)), prediction)
    np.testing.assert_array_equal(matched, [2.2, 7, np.nan, 5])


def test_a_point_left_out_has_no_answer_but_by_the_published_rule():
    query = points((4, 4), (5, 4), (6, 4))
    prediction = predict(query[[0, 2]], [1, 3])
    np.testing.assert_array_equal(matched_depths(query, prediction), [1, np.nan, 3])
    np.testing.assert_array_equal(nearest_depths(query, prediction), [1, 1, 3])


def test_a_point_takes_the_nearest_of_those_that_answer_it():
    prediction = predict(points((9, 10), (10.5, 10), (11.5, 10)), [1, 2, 3])
    assert match_points(points((10, 10), (12.5, 10)), prediction).tolist() == [1, 2]


@pytest.mark.parametrize("rule", RULES)
def test_of_equally_near_predictions_the_first_by_place_and_depth_answers(rule):
    around = points((11, 10), (9, 10), (10, 9), (9, 10))
    assert rule(points((10, 10)), predict(around, [1, 5, 3, 4])).tolist() == [4]


@pytest.mark.parametrize("rule", RULES)
def test_nothing_predicted_answers_nothing(rule):
    np.testing.assert_array_equal(rule(points((1, 1)), predict(points(), [])), [np.nan])
    assert rule(points(), predict(points((1, 1)), [1])).shape == (0,)


coordinates = st.integers(0, 12).flatmap(
    lambda size: arrays(
        np.float64, (size, 2), elements=st.integers(0, 6) | st.floats(-3, 9, width=32)
    )
)


def distance(first, second) -> float:
    return float(np.hypot(first[0] - second[0], first[1] - second[1]))


def nearest_slowly(query, prediction) -> list[float]:
    """Each point against every predicted one, ties by x, y and depth."""
    told = list(zip(prediction.coordinates.tolist(), prediction.depths, strict=True))
    found = []
    for point in query:
        keys = [(distance(at, point), *at, depth) for at, depth in told]
        near = [key for key in keys if key[0] <= MATCH_RADIUS_PX]
        found.append(min(near)[-1] if near else np.nan)
    return found


def matched_slowly(query, prediction) -> list[float]:
    """As above, among the predicted points whose nearest point, the first of several, it is."""
    found = []
    for index, point in enumerate(query):
        own = [
            row
            for row, at in enumerate(prediction.coordinates)
            if index == min(range(len(query)), key=lambda i: (distance(query[i], at), i))
        ]
        mine = predict(prediction.coordinates[own], prediction.depths[own])
        found += nearest_slowly([point], mine)
    return found


@given(query=coordinates, told=coordinates, random=st.randoms(use_true_random=False))
def test_matching_agrees_with_brute_force_in_any_order(query, told, random):
    depths = np.array([random.uniform(1, 5) for _ in told])
    order = list(range(len(told)))
    random.shuffle(order)
    for chosen in (order, sorted(order)):
        prediction = predict(told[chosen], depths[chosen])
        if np.array_equal(query, prediction.coordinates):
            continue
        np.testing.assert_array_equal(
            nearest_depths(query, prediction), nearest_slowly(query, prediction)
        )
        np.testing.assert_array_equal(
            matched_depths(query, prediction), matched_slowly(query, prediction)
        )


@given(coordinates, coordinates)
def test_no_predicted_point_answers_twice(query, told):
    answers = match_points(query, predict(told, np.ones(len(told))))
    used = answers[answers >= 0]
    assert len(set(used.tolist())) == used.size


@pytest.mark.parametrize("rule", RULES)
@given(query=coordinates, told=coordinates)
def test_matching_changes_no_input(rule, query, told):
    depths = np.arange(len(told), dtype=np.float64)
    before = [array.tobytes() for array in (query, told, depths)]
    rule(query, SparseDepthPrediction(told, depths))[:] = -1
    assert [array.tobytes() for array in (query, told, depths)] == before
