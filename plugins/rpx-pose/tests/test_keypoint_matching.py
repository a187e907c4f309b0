"""Judging matches: gate, one-to-one use, precision, PCK, and the published numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.contracts import Sample, Undefined
from rpx_core.state import fold
from rpx_core.testing import values_of
from rpx_pose.matching import TrueMatches, judge_matches, published_errors
from rpx_pose.metrics.matches import KeypointMatches, MatchOptions
from rpx_pose.metrics.pck import PckOptions, RelativePck
from rpx_pose.metrics.published_matches import PublishedMatches
from rpx_pose.neighbours import find_neighbours
from rpx_pose.pck import count_correct, extent, relative_threshold
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    PairQuery,
)

MATCHES = KeypointMatches(MatchOptions())
IMAGE = np.zeros((480, 640, 3), np.uint8)
SAMPLE = Sample("s", rgb=IMAGE, query=PairQuery(IMAGE))


def truth(points0, points1, visible=None, **more) -> KeypointCorrespondenceGroundTruth:
    shape = (-1, 2)
    first, second = (np.array(p, float).reshape(shape) for p in (points0, points1))
    return KeypointCorrespondenceGroundTruth(
        first, second, None if visible is None else np.array(visible, bool), **more
    )


def matches(points0, points1) -> KeypointCorrespondencePrediction:
    first, second = (np.array(p, float).reshape(-1, 2) for p in (points0, points1))
    return KeypointCorrespondencePrediction(first, second)


def run(metric, true, found, sample=SAMPLE):
    state = metric.measure(sample, true, found)
    return None if isinstance(state, Undefined) else values_of(metric, state)


# The published example: errors 1 and 27.59.
def test_published_accuracy_takes_the_nearest_match_at_any_distance():
    true = truth([(10, 10), (30, 30)], [(20, 20), (40, 40)])
    values = run(PublishedMatches(), true, matches([(10, 10), (100, 100)], [(21, 20), (40, 40)]))
    assert values["keypoint_acc"] == 0.5
    assert values["mean_match_error"] == pytest.approx((1 + 761**0.5) / 2)
    assert values["mean_match_error"] == pytest.approx(14.29, abs=0.01)


def test_published_accuracy_without_matches_is_zero_and_its_error_undefined():
    values = run(PublishedMatches(), truth([(1, 1)], [(2, 2)]), matches([], []))
    assert values == {"keypoint_acc": 0.0, "mean_match_error": None}


# RW-087: the published rule gives full credit.
def test_match_that_starts_elsewhere_earns_nothing():
    true, found = truth([(10, 10)], [(50, 50)]), matches([(500, 500)], [(50, 50)])
    assert run(PublishedMatches(), true, found)["keypoint_acc"] == 1
    values = run(MATCHES, true, found)
    assert values["pck_3px"] == 0
    assert values["matched"] == 0
    assert values["judged_matches"] == 0
    assert values["precision_3px"] is None
    assert values["matches"] == 1


def test_each_match_is_used_for_one_point_only():
    true = truth([(10, 10), (11, 10)], [(20, 10), (21, 10)])
    values = run(MATCHES, true, matches([(10, 10)], [(20, 10)]))
    assert values["pck_1px"] == 0.5
    assert values["matched"] == 0.5
    assert values["precision_1px"] == 1


def test_a_start_beside_the_true_point_costs_nothing():
    values = run(MATCHES, truth([(10, 10)], [(30, 12)]), matches([(12, 11)], [(32, 13)]))
    assert values["mean_error_px"] == 0
    assert values["pck_1px"] == 1


def test_match_of_a_hidden_point_is_wrong_and_hidden_points_are_not_asked_for():
    true = truth([(10, 10), (50, 50)], [(20, 20), (np.nan, np.nan)], visible=[True, False])
    values = run(MATCHES, true, matches([(10, 10), (50, 50)], [(20, 20), (60, 60)]))
    assert values["pck_1px"] == 1
    assert values["precision_1px"] == 0.5


def test_no_matches_recall_nothing_and_their_precision_is_undefined():
    values = run(MATCHES, truth([(10, 10)], [(20, 20)]), matches([], []))
    assert values["pck_5px"] == 0
    assert values["precision_5px"] is None
    assert values["mean_error_px"] is None


def test_nothing_true_leaves_the_sample_undefined():
    assert run(MATCHES, truth([], []), matches([(1, 1)], [(1, 1)])) is None


def test_thresholds_include_their_end():
    values = run(MATCHES, truth([(10, 10)], [(20, 20)]), matches([(10, 10)], [(23, 20)]))
    assert values["pck_3px"] == 1
    assert values["pck_1px"] == 0


# RW-086: the threshold is alpha times the longer side, its end included, over visible points.
def test_pck_of_an_object_box():
    threshold = relative_threshold(0.1, 100, 50)
    errors, visible = np.array([9.9, 10.0, 10.1, 50.0]), np.array([True, True, True, False])
    assert threshold == 10
    assert count_correct(errors[visible], threshold) / visible.sum() == pytest.approx(2 / 3)


# RW-085: padding of -1 would make the threshold 16.1 and the match right.
def test_padding_does_not_enlarge_the_object():
    true = truth([(0, 0), (50, 0), (5, 5)], [(100, 0), (160, 0), (-1, -1)], [True, True, False])
    assert extent(true.points1[true.visible()]) == (60, 0)
    found = matches([(0, 0), (50, 0)], [(100, 10), (160, 10)])
    values = run(RelativePck(PckOptions(alpha=0.1)), true, found)
    assert values["threshold_px"] == pytest.approx(6)
    assert values["pck"] == 0


def test_pck_by_image_uses_the_longer_side_of_the_second_image():
    values = run(
        RelativePck(PckOptions(alpha=0.01, normaliser="image")),
        truth([(10, 10)], [(20, 20)]),
        matches([(10, 10)], [(26, 20)]),
    )
    assert values["threshold_px"] == pytest.approx(6.4)
    assert values["pck"] == 1


def test_pck_of_a_single_point_has_no_extent():
    metric = RelativePck(PckOptions())
    assert run(metric, truth([(1, 1)], [(2, 2)]), matches([(1, 1)], [(2, 2)])) is None


points = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=0, max_size=12).map(
    lambda found: np.array(found, float).reshape(-1, 2)
)


@given(first=points, second=points, radius=st.floats(0.5, 8))
def test_neighbours_are_all_pairs_within_the_radius(first, second, radius):
    near = find_neighbours(first, second, radius)
    distance = np.linalg.norm(first[:, None] - second[None], axis=-1)
    expected = set(zip(*np.nonzero(distance <= radius), strict=True))
    assert set(zip(near.first.tolist(), near.second.tolist(), strict=True)) == expected
    assert (np.diff(near.first) >= 0).all()


@given(starts=points, seed=st.integers(0, 2**32 - 1))
def test_published_errors_are_those_of_the_nearest_start(starts, seed):
    rng = np.random.default_rng(seed)
    p0, p1 = rng.uniform(-200, 200, (2, 9, 2))
    ends = starts + 3
    found = published_errors(TrueMatches(starts, ends, np.ones(len(starts), bool)), p0, p1)
    for error, start, end in zip(found, starts, ends, strict=True):
        nearest = np.argmin(np.linalg.norm(p0 - start, axis=1))
        assert error == pytest.approx(np.linalg.norm(p1[nearest] - end))


@st.composite
def scenes(draw):
    starts = draw(points)
    ends = starts + np.array(draw(st.tuples(st.integers(-5, 5), st.integers(-5, 5))))
    visible = np.array(draw(st.lists(st.booleans(), min_size=len(starts), max_size=len(starts))))
    found0 = draw(points)
    noise = draw(st.lists(st.integers(-9, 9), min_size=len(found0), max_size=len(found0)))
    found1 = found0 + np.array(noise, float).reshape(-1, 1)
    return truth(starts, ends, visible.astype(bool)), matches(found0, found1)


@given(scene=scenes(), data=st.data())
def test_order_of_points_and_matches_does_not_matter(scene, data):
    true, found = scene
    values = run(MATCHES, true, found)
    order = np.array(data.draw(st.permutations(range(len(true.points0)))), int)
    turn = np.array(data.draw(st.permutations(range(len(found.points0)))), int)
    again = run(
        MATCHES,
        truth(true.points0[order], true.points1[order], true.visible()[order]),
        matches(found.points0[turn], found.points1[turn]),
    )
    assert again == values


@given(scene=scenes(), data=st.data())
def test_leaving_matches_out_never_raises_the_recall(scene, data):
    true, found = scene
    whole = run(MATCHES, true, found)
    kept = np.array(
        data.draw(
            st.lists(st.booleans(), min_size=len(found.points0), max_size=len(found.points0))
        ),
        bool,
    )
    less = run(MATCHES, true, matches(found.points0[kept], found.points1[kept]))
    if whole is not None and whole["matched"] is not None:
        assert less["matched"] <= whole["matched"]


@given(starts=points, data=st.data())
def test_truth_as_matches_is_perfect(starts, data):
    starts = np.unique(starts, axis=0)
    visible = np.ones(len(starts), bool)
    true = truth(starts, starts + 4, visible)
    values = run(MATCHES, true, matches(starts, starts + 4))
    if values is not None:
        assert values["pck_1px"] == values["precision_1px"] == values["matched"] == 1
        assert values["mean_error_px"] == 0


def test_pairs_of_images_pool_their_points():
    few = MATCHES.measure(SAMPLE, truth([(0, 0)], [(0, 0)]), matches([(0, 0)], [(0, 0)]))
    starts = np.arange(3)[:, None] * np.array([[20.0, 0]])
    many = MATCHES.measure(SAMPLE, truth(starts, starts), matches(starts[:1], starts[:1] + 9))
    pooled = values_of(MATCHES, fold([few, many]))
    assert pooled["pck_1px"] == 0.25
    assert pooled["matches"] == 2


def test_judging_a_dense_field_of_matches_uses_every_one():
    grid = np.stack(np.meshgrid(np.arange(60.0), np.arange(40.0)), axis=-1).reshape(-1, 2)
    true = TrueMatches(grid[::7], grid[::7] + 2, np.ones(len(grid[::7]), bool))
    found = judge_matches(true, grid, grid + 2, gate=3)
    assert found.is_judged.all()
    assert np.abs(found.errors).max() == 0
    assert np.abs(found.recalled).max() == 0
