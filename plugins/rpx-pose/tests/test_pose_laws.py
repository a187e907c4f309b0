"""What holds for the metrics of relative poses and of matches, whatever the pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpx_core import testing as laws
from rpx_core.contracts import Sample, Undefined
from rpx_core.state import decode_state, encode_state, fold
from rpx_pose.metrics.epipolar import EpipolarPrecision
from rpx_pose.metrics.homography import HomographyAccuracy, HomographyOptions
from rpx_pose.metrics.matches import KeypointMatches, MatchOptions
from rpx_pose.metrics.pck import PckOptions, RelativePck
from rpx_pose.metrics.pose_auc import PoseAuc
from rpx_pose.metrics.pose_errors import PoseErrorOptions, RelativePoseErrors
from rpx_pose.metrics.published_matches import PublishedMatches
from rpx_pose.rotations import rotations_from_quaternions
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    PairQuery,
    RelativePoseGroundTruth,
    RelativePosePrediction,
)

POSE_METRICS = [RelativePoseErrors(PoseErrorOptions()), PoseAuc(PoseErrorOptions())]
MATCH_METRICS = [
    KeypointMatches(MatchOptions()),
    RelativePck(PckOptions()),
    PublishedMatches(),
    EpipolarPrecision(),
    HomographyAccuracy(HomographyOptions()),
]
ALL = [*POSE_METRICS, *MATCH_METRICS]
NAMES = [type(metric).__name__ for metric in ALL]
IMAGE = np.zeros((48, 64, 3), np.uint8)
CAMERA = np.array([[50.0, 0, 32], [0, 50, 24], [0, 0, 1]])
SAMPLE = Sample("s", rgb=IMAGE, intrinsics=CAMERA, query=PairQuery(IMAGE, CAMERA))
PERTURBATIONS = ("turned", "shifted", "mirrored", "lost")

seeds = st.integers(0, 2**32 - 1)


def relative(rng: np.random.Generator) -> RelativePoseGroundTruth:
    rotation = rotations_from_quaternions(rng.normal(size=4), order="xyzw")
    # Every fifth camera stays where it is.
    return RelativePoseGroundTruth(rotation, rng.normal(size=3) * (rng.random() > 0.2))


def as_prediction(truth: RelativePoseGroundTruth) -> RelativePosePrediction:
    return RelativePosePrediction(truth.rotation, truth.translation)


def pose_pair(seed: int):
    rng = np.random.default_rng(seed)
    answer = as_prediction(relative(rng))
    return relative(rng), answer if rng.random() > 0.2 else RelativePosePrediction.no_pose()


def match_pair(seed: int):
    rng = np.random.default_rng(seed)
    count, found = rng.integers(0, 12, 2)
    starts = rng.uniform((0, 0), (63, 47), (count, 2))
    homography = np.eye(3) + rng.normal(0, 0.01, (3, 3)) if rng.random() > 0.3 else None
    truth = KeypointCorrespondenceGroundTruth(
        starts,
        starts + rng.normal(0, 2, 2),
        rng.random(count) > 0.3,
        relative_pose=relative(rng),
        homography=homography,
    )
    p0 = np.concatenate([starts[:found], rng.uniform((0, 0), (63, 47), (found, 2))])
    return truth, KeypointCorrespondencePrediction(p0, p0 + rng.normal(0, 2, p0.shape))


def pairs_for(metric, numbers):
    make = pose_pair if metric in POSE_METRICS else match_pair
    return [make(number) for number in numbers]


def measure_all(metric, pairs):
    found = [metric.measure(SAMPLE, *pair) for pair in pairs]
    return [state for state in found if not isinstance(state, Undefined)]


@pytest.mark.parametrize("metric", ALL, ids=NAMES)
@settings(max_examples=40)
@given(numbers=st.lists(seeds, min_size=1, max_size=4))
def test_states_survive_bytes_and_results_are_finite(metric, numbers):
    for state in measure_all(metric, pairs_for(metric, numbers)):
        values = laws.values_of(metric, state)
        assert laws.values_of(metric, decode_state(metric.State, encode_state(state))) == values
        assert set(values) == set(metric.outputs)
        assert all(value is None or np.isfinite(value) for value in values.values())


@pytest.mark.parametrize("metric", ALL, ids=NAMES)
@settings(max_examples=40)
@given(numbers=st.lists(seeds, min_size=1, max_size=5), data=st.data())
def test_folds_do_not_depend_on_order_or_split(metric, numbers, data):
    states = measure_all(metric, pairs_for(metric, numbers))
    if not states:
        return
    flat = laws.values_of(metric, fold(states))
    assert laws.values_of(metric, fold(data.draw(st.permutations(states)))) == flat
    cut = data.draw(st.integers(0, len(states)))
    parts = [part for part in (fold(states[:cut]), fold(states[cut:])) if part is not None]
    for name, value in laws.values_of(metric, fold(parts)).items():
        want = None if flat[name] is None else pytest.approx(flat[name], rel=1e-12, abs=1e-12)
        assert value == want, name


@pytest.mark.parametrize("metric", ALL, ids=NAMES)
@settings(max_examples=40)
@given(number=seeds)
def test_measuring_changes_no_input(metric, number):
    first, second = pairs_for(metric, [number, number])
    metric.measure(SAMPLE, *first)
    for used, untouched in zip(first, second, strict=True):
        for name, value in vars(untouched).items():
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(getattr(used, name), value)


@given(number=seeds)
def test_true_pose_is_perfect(number):
    truth = relative(np.random.default_rng(number))
    for metric in POSE_METRICS:
        for state in measure_all(metric, [(truth, as_prediction(truth))]):
            for name, value in laws.values_of(metric, state).items():
                if value is not None and metric.outputs[name].best is not None:
                    assert value == pytest.approx(metric.outputs[name].best, abs=2e-5), name


def perturb(truth: RelativePoseGroundTruth, kind: str) -> RelativePosePrediction:
    if kind == "lost":
        return RelativePosePrediction.no_pose()
    rotation, translation = truth.rotation, truth.translation
    if kind == "turned":
        q = np.array([0.1, -0.05, 0.02, 1])
        rotation = rotation @ rotations_from_quaternions(q, order="xyzw")
    elif kind == "shifted":
        translation = translation + np.array([0.1, -0.2, 0.05])
    else:
        translation = -translation
    return RelativePosePrediction(rotation, translation)


@pytest.mark.parametrize("kind", PERTURBATIONS)
@given(number=seeds)
def test_perturbing_a_perfect_pose_improves_nothing(kind, number):
    truth = relative(np.random.default_rng(number))
    for metric in POSE_METRICS:
        for state in measure_all(metric, [(truth, perturb(truth, kind))]):
            perfect = laws.values_of(metric, metric.measure(SAMPLE, truth, as_prediction(truth)))
            for name, value in laws.values_of(metric, state).items():
                better = metric.outputs[name].better
                if value is not None and better and perfect[name] is not None:
                    sign = 1 if better == "higher" else -1
                    assert sign * value <= sign * perfect[name] + 2e-5, name


@given(number=seeds)
def test_error_is_the_same_seen_from_the_other_camera(number):
    rng = np.random.default_rng(number)
    truth, answer = relative(rng), relative(rng)
    metric = POSE_METRICS[0]

    def inverse(pose):
        return RelativePoseGroundTruth(pose.rotation.T, -pose.rotation.T @ pose.translation)

    there = laws.values_of(metric, metric.measure(SAMPLE, truth, as_prediction(answer)))
    back = laws.values_of(
        metric, metric.measure(SAMPLE, inverse(truth), as_prediction(inverse(answer)))
    )
    assert back["rotation_error_deg"] == pytest.approx(there["rotation_error_deg"], abs=1e-6)
