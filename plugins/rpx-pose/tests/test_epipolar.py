"""Epipolar geometry, and how many matches agree with it."""

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_pose.epipolar import (
    essential_matrix,
    fundamental_matrix,
    sampson_distance,
    symmetric_distance,
)
from rpx_pose.metrics.epipolar import EpipolarPrecision
from rpx_pose.rotations import rotations_from_quaternions
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    PairQuery,
    RelativePoseGroundTruth,
)

METRIC = EpipolarPrecision()
IMAGE = np.zeros((480, 640, 3), np.uint8)
CAMERA = np.array([[300.0, 0, 320], [0, 310, 240], [0, 0, 1]])


def seen_from_both(seed: int = 0) -> tuple[RelativePoseGroundTruth, np.ndarray, np.ndarray]:
    """A relative pose and pixels of the same points in both cameras."""
    rng = np.random.default_rng(seed)
    rotation = rotations_from_quaternions(np.append(rng.normal(0, 0.1, 3), 1), order="xyzw")
    relative = RelativePoseGroundTruth(rotation, rng.normal(0, 0.3, 3))
    in_a = rng.uniform((-1, -1, 3), (1, 1, 6), (40, 3))
    in_b = (in_a - relative.translation) @ relative.rotation
    pixels = [points @ CAMERA.T for points in (in_a, in_b)]
    return relative, *(p[:, :2] / p[:, 2:] for p in pixels)


def truth(points0, points1, relative) -> KeypointCorrespondenceGroundTruth:
    return KeypointCorrespondenceGroundTruth(points0, points1, relative_pose=relative)


def test_true_matches_lie_on_their_epipolar_lines():
    relative, p0, p1 = seen_from_both()
    f = fundamental_matrix(essential_matrix(relative), CAMERA, CAMERA)
    assert sampson_distance(f, p0, p1).max() < 1e-9


def test_epipolar_distance_is_in_pixels():
    relative, p0, p1 = seen_from_both()
    f = fundamental_matrix(essential_matrix(relative), CAMERA, CAMERA)
    lines = np.column_stack([p0, np.ones(len(p0))]) @ f.T
    normals = lines[:, :2] / np.linalg.norm(lines[:, :2], axis=1, keepdims=True)
    # Both ends share the error: half of it each, as squares, in images of one scale.
    distance = sampson_distance(f, p0, p1 + 2 * normals)
    np.testing.assert_allclose(distance, 2**0.5, rtol=0.1)


def test_symmetric_distance_adds_both_images():
    relative = RelativePoseGroundTruth(np.eye(3), np.array([1.0, 0, 0]))
    distance = symmetric_distance(
        essential_matrix(relative), np.array([[0.0, 0]]), np.array([[0.5, 0.02]])
    )
    assert distance[0] == pytest.approx(2 * 0.02**2)


@pytest.fixture
def calibrated():
    relative, p0, p1 = seen_from_both()
    sample = Sample("s", rgb=IMAGE, intrinsics=CAMERA, query=PairQuery(IMAGE, CAMERA))
    return sample, truth(p0, p1, relative), KeypointCorrespondencePrediction(p0, p1)


def test_true_matches_are_epipolar_precise(calibrated):
    sample, true, found = calibrated
    assert set(METRIC.result(METRIC.measure(sample, true, found)).values()) == {1.0}


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("pose", "true pose"),
        ("intrinsics", "intrinsics of both"),
        ("second", "intrinsics of both"),
        ("matches", "no matches"),
        ("baseline", "do not move apart"),
    ],
)
def test_epipolar_precision_is_undefined_without(calibrated, missing, reason):
    sample, true, found = calibrated
    if missing == "pose":
        true = truth(true.points0, true.points1, None)
    if missing == "baseline":
        still = RelativePoseGroundTruth(np.eye(3), np.zeros(3))
        true = truth(true.points0, true.points1, still)
    if missing == "intrinsics":
        sample = Sample("s", rgb=IMAGE, query=sample.query)
    if missing == "second":
        sample = Sample("s", rgb=IMAGE, intrinsics=CAMERA, query=PairQuery(IMAGE))
    if missing == "matches":
        found = KeypointCorrespondencePrediction(np.zeros((0, 2)), np.zeros((0, 2)))
    assert reason in METRIC.measure(sample, true, found).reason
