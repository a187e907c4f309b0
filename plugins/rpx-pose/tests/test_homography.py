"""Corner error, resizing, and the fit to matches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpx_core.contracts import Sample
from rpx_core.state import fold
from rpx_core.testing import values_of
from rpx_pose.homography import corner_error, fit_homography, rescale_homography, transfer
from rpx_pose.metrics.homography import HomographyAccuracy, HomographyOptions
from rpx_pose.tasks.resizing import resize_truth
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    PairQuery,
)

SHIFT = np.array([[1.0, 0, 100], [0, 1, 0], [0, 0, 1]])
IMAGE = np.zeros((480, 640, 3), np.uint8)
SAMPLE = Sample("s", rgb=IMAGE, query=PairQuery(IMAGE))
METRIC = HomographyAccuracy(HomographyOptions())


def tilted(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    matrix = np.eye(3) + rng.normal(0, 0.05, (3, 3))
    matrix[:2, 2] = rng.normal(0, 30, 2)
    matrix[2, :2] = rng.normal(0, 2e-4, 2)
    matrix[2, 2] = 1
    return matrix


def scattered(seed: int, count: int = 60) -> np.ndarray:
    return np.random.default_rng(seed).uniform((0, 0), (640, 480), (count, 2))


def measure(homography: np.ndarray, points0: np.ndarray, points1: np.ndarray):
    truth = KeypointCorrespondenceGroundTruth(
        points0, transfer(homography, points0), homography=homography
    )
    return METRIC.measure(SAMPLE, truth, KeypointCorrespondencePrediction(points0, points1))


# RW-089: with width and height swapped the error would be 2.395 and within 3 px.
def test_corner_error_knows_width_from_height():
    error = corner_error(np.eye(3), np.diag([1.01, 1, 1]), (640, 480))
    assert error == pytest.approx(3.195)


def test_a_failed_fit_has_an_infinite_error_and_stays_in_the_denominator():
    assert corner_error(np.eye(3), None, (640, 480)) == np.inf
    points = scattered(0)
    good = measure(SHIFT, points, transfer(SHIFT, points))
    failed = measure(SHIFT, points[:2], points[:2])
    values = values_of(METRIC, fold([good, failed]))
    assert values["corner_within3px"] == 0.5
    assert values["corner_auc3"] == pytest.approx(0.5, abs=1e-6)
    assert values["corner_error_px"] == pytest.approx(0, abs=1e-6)


# RW-088: each image has its own scale; one factor for both gives 150, none 200.
def test_homography_between_resized_images():
    scaling0, scaling1 = np.diag([0.5, 0.5, 1]), np.diag([0.25, 0.25, 1])
    resized = rescale_homography(SHIFT, scaling0, scaling1)
    np.testing.assert_allclose(transfer(resized, np.array([[100.0, 0]])), [[75, 0]])


@given(st.integers(0, 1000))
def test_points_follow_the_homography_after_resizing_too(seed):
    points = scattered(seed, 5)
    homography = tilted(seed)
    truth = KeypointCorrespondenceGroundTruth(
        points, transfer(homography, points), homography=homography
    )
    scalings = (np.array([[0.5, 0, -0.25], [0, 0.4, -0.3], [0, 0, 1]]), np.diag([0.25, 0.3, 1]))
    resized = resize_truth(truth, *scalings)
    np.testing.assert_allclose(
        transfer(resized.homography, resized.points0), resized.points1, rtol=1e-7, atol=1e-6
    )


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_fit_finds_the_homography_among_wrong_matches(seed):
    rng = np.random.default_rng(seed)
    homography, points = tilted(seed), scattered(seed)
    ends = transfer(homography, points)
    ends[:20] = rng.uniform((0, 0), (640, 480), (20, 2))
    fitted = fit_homography(points, ends, threshold=3)
    assert corner_error(homography, fitted, (640, 480)) < 0.5


def test_fit_does_not_depend_on_the_order_of_matches():
    points = scattered(1)
    ends = transfer(tilted(1), points) + np.random.default_rng(2).normal(0, 0.5, (60, 2))
    order = np.random.default_rng(3).permutation(60)
    first = fit_homography(points, ends, threshold=3)
    again = fit_homography(points[order], ends[order], threshold=3)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("count", [0, 3])
def test_fewer_than_four_matches_fit_nothing(count):
    points = scattered(0, count)
    assert fit_homography(points, points, threshold=3) is None


def test_matches_on_one_point_fit_nothing_that_counts():
    same = np.full((10, 2), 5.0)
    assert corner_error(SHIFT, fit_homography(same, same, threshold=3), (640, 480)) > 10


def test_accuracy_counts_every_match():
    points = scattered(4, 50)
    ends = transfer(SHIFT, points)
    ends[:25] += (0, 2)
    values = values_of(METRIC, measure(SHIFT, points, ends))
    assert values["mma_1px"] == 0.5
    assert values["mma_3px"] == 1


def test_no_homography_leaves_the_sample_undefined():
    truth = KeypointCorrespondenceGroundTruth(scattered(0), scattered(0))
    prediction = KeypointCorrespondencePrediction(scattered(0), scattered(0))
    assert "no homography" in METRIC.measure(SAMPLE, truth, prediction).reason


def test_no_matches_fail_the_fit_and_leave_accuracy_undefined():
    nothing = np.zeros((0, 2))
    values = values_of(METRIC, measure(SHIFT, nothing, nothing))
    assert values["mma_3px"] is None
    assert values["corner_error_px"] is None
    assert values["corner_auc10"] == 0
