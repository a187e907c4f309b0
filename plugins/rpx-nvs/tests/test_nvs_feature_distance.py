"""FID and KID: the distances by hand, and the metric over images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.contracts import Sample, Undefined
from rpx_core.state import decode_state, encode_state, fold
from rpx_nvs.feature_distances import frechet_distance, kernel_distance
from rpx_nvs.metrics.feature_distance import FeatureDistance, FeatureDistanceOptions, FeatureSets
from rpx_nvs.perceptual.features import resize
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction


def by_matrix_root(first, second):
    """The textbook formula, for covariances of full rank."""
    values, vectors = np.linalg.eig(np.cov(first.T) @ np.cov(second.T))
    root = (vectors * np.sqrt(values)) @ np.linalg.inv(vectors)
    apart = np.square(first.mean(0) - second.mean(0)).sum()
    return apart + np.trace(np.cov(first.T) + np.cov(second.T) - 2 * root.real)


def mean_colours(rgb):
    """Features that can be checked by hand."""
    return rgb.mean(axis=(0, 1)).astype(np.float32)


def metric():
    return FeatureDistance(FeatureDistanceOptions(network="unused"), mean_colours)


def measure(predicted, true):
    return metric().measure(
        Sample("one"),
        NovelViewSynthesisGroundTruth(true, np.eye(4)),
        NovelViewSynthesisPrediction(predicted),
    )


# RW-100: two points each, singular covariances.
def test_frechet_distance_of_singular_covariances_is_real_and_exact():
    first, second = np.array([[0.0, 0], [2, 0]]), np.array([[1.0, 0], [3, 0]])
    assert frechet_distance(first, second) == pytest.approx(1.0, abs=1e-12)
    assert frechet_distance(first, first) == pytest.approx(0.0, abs=1e-12)


def test_frechet_distance_needs_two_images():
    assert frechet_distance(np.zeros((1, 4)), np.ones((5, 4))) is None
    assert kernel_distance(np.zeros((1, 4)), np.ones((5, 4))) is None


@pytest.mark.parametrize("images", [6, 50])
def test_frechet_distance_equals_the_textbook_formula(images):
    rng = np.random.default_rng(images)
    first, second = rng.normal(size=(images, 5)), rng.normal(1, 2, size=(images + 3, 5))
    assert frechet_distance(first, second) == pytest.approx(by_matrix_root(first, second))


@given(seed=st.integers(0, 2**32), images=st.integers(2, 30), features=st.integers(1, 40))
def test_frechet_distance_is_symmetric_and_never_negative(seed, images, features):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, images, features)).astype(np.float32)
    distance = frechet_distance(first, second)
    assert distance >= 0
    assert distance == pytest.approx(frechet_distance(second, first), abs=1e-9)
    assert frechet_distance(first, first) == pytest.approx(0, abs=1e-9 * features)


# RW-101: unbiased, and not clipped.
def test_kernel_distance_may_be_negative():
    points = np.array([[0.0], [1.0]])
    assert kernel_distance(points, points) == pytest.approx(-3.5, abs=1e-12)


def test_kernel_distance_does_not_depend_on_how_rows_are_cut(monkeypatch):
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 20, 3))
    whole = kernel_distance(first, second)
    monkeypatch.setattr("rpx_nvs.feature_distances._ROWS", 7)
    assert kernel_distance(first, second) == pytest.approx(whole, rel=1e-13)


# RW-102: a pixel checkerboard becomes grey, not black or white.
def test_images_are_resized_without_aliasing():
    board = np.indices((64, 64)).sum(axis=0) % 2
    small = resize(np.repeat(board[..., None], 3, axis=2).astype(np.float64), 32) * 255
    assert small.mean() == pytest.approx(127.5, abs=1)
    assert small.std() < 30


def test_folded_states_are_the_sets_of_all_images():
    rng = np.random.default_rng(3)
    images = rng.integers(0, 256, (2, 5, 8, 9, 3), np.uint8)
    states = [measure(predicted, true) for predicted, true in zip(*images, strict=True)]
    whole = metric().result(fold(states))
    features = [[mean_colours(image / 255) for image in of] for of in images]
    assert whole["fid"] == pytest.approx(frechet_distance(*np.array(features)))
    assert whole["features"] == 3
    stored = [decode_state(FeatureSets, encode_state(state)) for state in states]
    assert metric().result(fold(stored)) == whole
    assert metric().result(states[0])["fid"] == Undefined("there are fewer than two images")


def test_truth_as_prediction_is_perfect():
    images = np.random.default_rng(4).integers(0, 256, (6, 8, 8, 3), np.uint8)
    state = fold([measure(image, image) for image in images])
    assert metric().result(state)["fid"] == pytest.approx(0, abs=1e-12)


def test_8_bit_and_float_images_of_the_same_colours_are_equal():
    image = np.random.default_rng(5).integers(0, 256, (8, 8, 3), np.uint8)
    state = measure((image / 255).astype(np.float32), image)
    assert state.predicted == pytest.approx(state.true, abs=1e-6)


def test_too_few_images_are_doubted():
    images = np.random.default_rng(6).integers(0, 256, (4, 8, 8, 3), np.uint8)
    states = [measure(image, image) for image in images]
    assert "3 images for 3 features" in metric().doubt(fold(states[:3]))
    assert metric().doubt(fold(states)) is None
