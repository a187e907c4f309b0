"""Temporal stability of views: who follows true changes of colour, and who flickers."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample, Undefined
from rpx_core.testing import values_of
from rpx_nvs.metrics.stability import NvsStability
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction

METRIC = NvsStability()
INTRINSICS = np.array([[20.0, 0, 4], [0, 20.0, 2], [0, 0, 1]])
SHAPE = (5, 9)
WALL = np.full(SHAPE, 2, np.float32)
RNG = np.random.default_rng(1)
WORLD = RNG.integers(20, 200, (5, 13, 3)).astype(np.uint8)


def pose(number):
    matrix = np.eye(4)
    matrix[0, 3] = 0.2 * number
    return matrix


def seen_from(number, brighter=0):
    """The wall as target camera `number` sees it: 2 px further along, and brighter."""
    return (WORLD[:, 2 * number : 2 * number + 9] + brighter).astype(np.uint8)


def frame(number, rgb, prediction, *, with_pose=True, **known):
    geometry = {"depth": WALL, "intrinsics": INTRINSICS, **known}
    truth = NovelViewSynthesisGroundTruth(rgb, pose(number), **geometry)
    source = pose(number - 1) if with_pose else None
    sample = Sample(f"s{number}", camera_pose=source)
    return Frame(sample, truth, NovelViewSynthesisPrediction(prediction))


def score(*pairs, **known):
    frames = [frame(number, *images, **known) for number, images in enumerate(pairs)]
    return values_of(METRIC, METRIC.measure(*frames))


def test_following_the_light_is_perfect_and_keeping_colours_scores_zero():
    before, brighter, same = seen_from(0), seen_from(1, brighter=30), seen_from(1)
    assert score((before, before), (brighter, brighter))["ts"] == 1
    assert score((before, before), (brighter, same))["ts"] == 0
    half = score((before, before), (brighter, seen_from(1, brighter=15)))
    assert half["ts"] == pytest.approx(0.5)


def test_only_changes_count_not_colours():
    before, now = seen_from(0), seen_from(1, brighter=30)
    assert score((before, before + 5), (now, now + 5))["ts"] == pytest.approx(1)


def test_overreacting_is_below_zero():
    before, now = seen_from(0), seen_from(1, brighter=10)
    assert score((before, before), (now, seen_from(1, brighter=40)))["ts"] == pytest.approx(-2)


def test_coverage_is_the_share_that_stays_in_view():
    before, now = seen_from(0), seen_from(1, brighter=30)
    assert score((before, before), (now, now))["ts_coverage"] == pytest.approx(7 / 9)


def test_unscored_pixels_are_left_out():
    before, now = seen_from(0), seen_from(1, brighter=30)
    wrong = now.copy()
    wrong[0] = 0
    scored = np.ones(SHAPE, np.bool_)
    scored[0] = False
    assert score((before, before), (now, wrong), scored=scored)["ts"] == 1
    assert score((before, before), (now, wrong))["ts"] < 0.5


def test_float_predictions_count_alike():
    before, now = seen_from(0), seen_from(1, brighter=30)
    pairs = [(before, (before / 255).astype(np.float32)), (now, (now / 255).astype(np.float32))]
    assert score(*pairs)["ts"] == pytest.approx(1, abs=1e-5)


def test_nothing_that_changes_is_undefined_not_perfect():
    before, now = seen_from(0), seen_from(1)
    assert score((before, before), (now, now))["ts"] is None


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ({"depth": None}, "the true depth is not known"),
        ({"intrinsics": None}, "the intrinsics are not known"),
        ({"with_pose": False}, "the camera pose is not known"),
        ({"depth": 0 * WALL}, "no pixel of the earlier frame has a depth"),
    ],
)
def test_without_geometry_it_says_what_is_missing(missing, reason):
    frames = [frame(number, seen_from(number), seen_from(number), **missing) for number in (0, 1)]
    assert METRIC.measure(*frames) == Undefined(reason)
