"""The models, and what they are made of, on synthetic views."""

import numpy as np
import pytest

from rpx_core.contracts import Runtime, Sample, withhold
from rpx_core.errors import ModelError
from rpx_pose.epipolar import essential_matrix, fundamental_matrix, sampson_distance
from rpx_pose.essential import Robustness, estimate_pose
from rpx_pose.five_point import solve_five_points
from rpx_pose.metrics.matches import KeypointMatches, MatchOptions
from rpx_pose.metrics.pose_errors import PoseErrorOptions, RelativePoseErrors
from rpx_pose.models import features, identity_pose, lucas_kanade, trajectories
from rpx_pose.rotations import rotations_from_quaternions
from rpx_pose.tracking import Tracker, build_pyramid, find_corners, track
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointQuery,
    PairQuery,
    RelativePoseGroundTruth,
    Trajectory,
    TrajectoryQuery,
)

CAMERA = np.array([[300.0, 0, 160], [0, 305, 120], [0, 0, 1]])
ERRORS = RelativePoseErrors(PoseErrorOptions())


@pytest.fixture
def runtime(tmp_path):
    return Runtime("cpu", 0, tmp_path)


def texture(seed: int = 0, size: tuple[int, int] = (120, 160)) -> np.ndarray:
    """Smooth noise on several scales, as float."""
    rng = np.random.default_rng(seed)
    total = np.zeros(size)
    for cell in (4, 8, 16):
        coarse = rng.uniform(0, 80, (size[0] // cell + 2, size[1] // cell + 2))
        rows, columns = np.arange(size[0]) / cell, np.arange(size[1]) / cell
        r, c = rows.astype(int)[:, None], columns.astype(int)[None]
        fr, fc = rows[:, None] % 1, columns[None] % 1
        top = coarse[r, c] * (1 - fc) + coarse[r, c + 1] * fc
        low = coarse[r + 1, c] * (1 - fc) + coarse[r + 1, c + 1] * fc
        total += top * (1 - fr) + low * fr
    return total


def as_rgb(image: np.ndarray) -> np.ndarray:
    return np.repeat(image[..., None], 3, axis=2).astype(np.uint8)


def shifted_pair(dx: int, dy: int) -> tuple[np.ndarray, np.ndarray]:
    wide = texture(1, (160, 200))
    return (
        as_rgb(wide[20:140, 20:180]),
        as_rgb(wide[20 - dy : 140 - dy, 20 - dx : 180 - dx]),
    )


def scene(seed: int, *, flat: bool = False):
    """A relative pose (b in a) and pixels of 80 points in both cameras."""
    rng = np.random.default_rng(seed)
    rotation = rotations_from_quaternions(np.append(rng.normal(0, 0.05, 3), 1), order="xyzw")
    shift = rng.normal(size=3)
    truth = RelativePoseGroundTruth(rotation, 0.6 * shift / np.linalg.norm(shift))
    in_a = rng.uniform((-1, -0.8, 2.5), (1, 0.8, 5), (80, 3))
    if flat:
        in_a[:, 2] = 3 + 0.4 * in_a[:, 0]
    in_b = (in_a - truth.translation) @ rotation
    pixels = [points @ CAMERA.T for points in (in_a, in_b)]
    return truth, *(p[:, :2] / p[:, 2:] for p in pixels)


def pose_error(truth, answer) -> float:
    sample = Sample("s")
    values = ERRORS.result(ERRORS.measure(sample, truth, answer))
    return values["pose_error_max_deg"]


def test_flow_of_a_shifted_image_is_the_shift():
    first, second = (build_pyramid(image, 4) for image in shifted_pair(9, -6))
    corners = find_corners(first.levels[0], 60)
    moved, found = track(first, second, corners, Tracker())
    inner = found & (corners > 20).all(axis=1) & (corners < (140, 100)).all(axis=1)
    assert inner.sum() > 20
    assert np.median(np.abs(moved[inner] - corners[inner] - (9, -6))) < 0.05


def test_blank_images_have_no_corners_and_nothing_to_follow():
    blank = build_pyramid(np.full((64, 64, 3), 90, np.uint8), 3)
    assert find_corners(blank.levels[0], 50).shape == (0, 2)
    _, found = track(blank, blank, np.array([[30.0, 30]]), Tracker())
    assert not found.any()


@pytest.mark.parametrize("size", [(5, 7), (1, 1), (17, 300)])
def test_small_images_are_followed_without_error(size):
    image = build_pyramid(np.random.default_rng(0).integers(0, 255, (*size, 3), np.uint8), 4)
    points = np.array([[0.0, 0.0], [size[1] - 1, size[0] - 1]])
    moved, found = track(image, image, points, Tracker())
    assert moved.shape == (2, 2)
    np.testing.assert_allclose(moved[found], points[found], atol=0.1)
    assert find_corners(image.levels[0], 5).shape[1] == 2


@pytest.mark.parametrize("seed", range(5))
def test_five_points_give_the_true_essential_matrix_among_others(seed):
    _, p0, p1 = scene(seed)
    inverse = np.linalg.inv(CAMERA)
    rays = [np.column_stack([p, np.ones(len(p))]) @ inverse.T for p in (p0, p1)]
    candidates = solve_five_points(rays[0][None, :5, :2], rays[1][None, :5, :2])
    residual = np.einsum("ni,kij,nj->kn", rays[1], candidates, rays[0])
    assert np.abs(residual).max(axis=1).min() < 1e-6


def test_five_equal_points_give_nothing_that_follows_others():
    same = np.zeros((1, 5, 2))
    assert np.isfinite(solve_five_points(same, same)).all()


@pytest.mark.parametrize("seed", range(4))
def test_pose_is_found_among_wrong_matches(seed):
    truth, p0, p1 = scene(seed)
    p1[:20] += np.random.default_rng(seed).normal(0, 30, (20, 2))
    answer = estimate_pose((p0, p1), (CAMERA, CAMERA), Robustness(samples=200))
    assert not answer.scale_known
    assert np.linalg.norm(answer.translation) == pytest.approx(1)
    assert pose_error(truth, answer) < 0.5


def test_matches_on_a_plane_find_a_pose_that_explains_them():
    # Two poses explain a plane equally well; which is found, the last bit decides.
    _, p0, p1 = scene(2, flat=True)
    answer = estimate_pose((p0, p1), (CAMERA, CAMERA), Robustness())
    pose = RelativePoseGroundTruth(answer.rotation, answer.translation)
    f = fundamental_matrix(essential_matrix(pose), CAMERA, CAMERA)
    assert sampson_distance(f, p0, p1).max() < 0.01


def test_pose_does_not_depend_on_the_order_of_matches():
    _, p0, p1 = scene(1)
    order = np.random.default_rng(0).permutation(len(p0))
    first = estimate_pose((p0, p1), (CAMERA, CAMERA), Robustness())
    again = estimate_pose((p0[order], p1[order]), (CAMERA, CAMERA), Robustness())
    np.testing.assert_array_equal(first.rotation, again.rotation)
    np.testing.assert_array_equal(first.translation, again.translation)


@pytest.mark.parametrize("count", [0, 5])
def test_too_few_matches_are_no_pose(count):
    _, p0, p1 = scene(0)
    answer = estimate_pose((p0[:count], p1[:count]), (CAMERA, CAMERA), Robustness())
    assert answer.rotation is None


def pair_sample(query_type=PairQuery, **more) -> Sample:
    first, second = shifted_pair(6, 3)
    sample = Sample(
        "p7",
        rgb=first,
        intrinsics=CAMERA,
        query=query_type(second, CAMERA, **more),
    )
    return withhold(sample)


def test_baseline_follows_exactly_the_points_asked_for(runtime):
    points = np.array([[60.0, 50], [80, 70], [100.5, 60.25]])
    model = lucas_kanade.load_matches(lucas_kanade.LucasKanadeOptions(), runtime)
    (found,) = model.predict([pair_sample(KeypointQuery, points0=points)])
    assert {tuple(point) for point in found.points0} <= {tuple(point) for point in points}
    assert len(found.points0) > 0
    assert np.abs(found.points1 - found.points0 - np.array([6, 3])).max() < 0.2


def test_baseline_pose_assumes_a_field_of_view_without_intrinsics(runtime):
    model = lucas_kanade.load_pose(lucas_kanade.LucasKanadePoseOptions(), runtime)
    first, second = shifted_pair(6, 3)
    (answer,) = model.predict([Sample("p7", rgb=first, query=PairQuery(second))])
    assert answer.rotation is not None
    with pytest.raises(ModelError, match=r"p7.*pair of images"):
        model.predict([Sample("p7", rgb=first)])


def test_baselines_find_nothing_in_blank_images(runtime):
    blank = np.full((60, 80, 3), 120, np.uint8)
    query = KeypointQuery(blank, CAMERA, points0=np.array([[30.0, 30]]))
    sample = Sample("b", rgb=blank, intrinsics=CAMERA, query=query)
    pose = lucas_kanade.load_pose(lucas_kanade.LucasKanadePoseOptions(), runtime)
    matches = lucas_kanade.load_matches(lucas_kanade.LucasKanadeOptions(), runtime)
    assert pose.predict([sample])[0].rotation is None
    assert matches.predict([sample])[0].points0.shape == (0, 2)


def test_images_of_different_size_are_followed(runtime):
    first, second = shifted_pair(4, 2)
    query = KeypointQuery(second[:90, :130], CAMERA, points0=np.array([[60.0, 50], [150, 110]]))
    model = lucas_kanade.load_matches(lucas_kanade.LucasKanadeOptions(), runtime)
    (found,) = model.predict([Sample("d", rgb=first, query=query)])
    assert found.points0.tolist() == [[60, 50]]


def test_feature_pose_needs_intrinsics_and_says_so(runtime):
    model = features.load_sift_pose(features.FeaturePoseOptions(), runtime)
    model.setup()
    first, second = shifted_pair(6, 3)
    with pytest.raises(ModelError, match=r"p7.*intrinsics of both"):
        model.predict([Sample("p7", rgb=first, query=PairQuery(second))])


def test_identity_answers_the_identity(runtime):
    (answer,) = identity_pose.load(None, runtime).predict([pair_sample()])
    np.testing.assert_array_equal(answer.rotation, np.eye(3))
    assert not answer.translation.any()


def test_static_and_listed_trajectories(runtime):
    estimate = Trajectory(np.tile(np.eye(4), (2, 1, 1)), np.array([0.0, 1]))
    with_estimate = Sample("t", query=TrajectoryQuery(np.arange(3.0), estimate))
    (still,) = trajectories.load_static(None, runtime).predict([with_estimate])
    assert len(still) == 3
    (listed,) = trajectories.load_listed(None, runtime).predict([with_estimate])
    assert listed is estimate
    without = Sample("t", query=TrajectoryQuery(np.arange(3.0)))
    with pytest.raises(ModelError, match="lists no `estimate`"):
        trajectories.load_listed(None, runtime).predict([without])


@pytest.mark.parametrize("kind", ["sift", "orb", "akaze"])
def test_features_find_a_shift(kind, runtime):
    model = getattr(features, f"load_{kind}")(features.FeatureOptions(), runtime)
    model.setup()
    first, second = texture(3, (260, 340)), texture(3, (260, 340))
    sample = Sample(
        "f",
        rgb=as_rgb(first[10:250, 10:330]),
        query=PairQuery(as_rgb(second[6:246, 3:323]), CAMERA),
    )
    (found,) = model.predict([sample])
    assert len(found.points0) > 20
    assert np.median(np.abs(found.points1 - found.points0 - (7, 4))) < 0.5
    assert (np.diff(found.scores) <= 0).all()


@pytest.mark.parametrize("kind", ["sift", "orb", "akaze"])
def test_blank_images_have_no_matches_and_no_pose(kind, runtime):
    blank = np.full((60, 80, 3), 120, np.uint8)
    sample = Sample("b", rgb=blank, intrinsics=CAMERA, query=PairQuery(blank, CAMERA))
    matcher = getattr(features, f"load_{kind}")(features.FeatureOptions(), runtime)
    estimator = getattr(features, f"load_{kind}_pose")(features.FeaturePoseOptions(), runtime)
    for model in (matcher, estimator):
        model.setup()
    assert matcher.predict([sample])[0].points0.shape == (0, 2)
    assert estimator.predict([sample])[0].rotation is None


def test_judging_the_baseline_on_a_shift_finds_it_right(runtime):
    points = np.stack(np.meshgrid(np.arange(30.0, 130, 20), np.arange(30.0, 90, 20)), -1)
    sample = pair_sample(KeypointQuery, points0=points.reshape(-1, 2))
    model = lucas_kanade.load_matches(lucas_kanade.LucasKanadeOptions(), runtime)
    (found,) = model.predict([sample])
    starts = sample.query.points0
    truth = KeypointCorrespondenceGroundTruth(starts, starts + np.array([6, 3]))
    metric = KeypointMatches(MatchOptions())
    assert metric.result(metric.measure(sample, truth, found))["pck_1px"] > 0.9
