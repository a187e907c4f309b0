"""Loading true matches in every form, checking predicted ones, and their files."""

import io

import numpy as np
import pytest

from rpx_core.arrays import encode_npz
from rpx_core.contracts import Sample, withhold
from rpx_core.errors import ManifestError, ModelError
from rpx_pose.homography import transfer
from rpx_pose.types import KeypointCorrespondencePrediction

TASK = "keypoint_matching"
SAMPLE = Sample("s7")


@pytest.fixture
def task(make_task):
    return make_task(TASK)


@pytest.fixture
def listed(pair):
    """A pair with three true matches, the last one hidden."""
    pair.records[0] |= {
        "points0": [[1, 2], [10, 20], [30, 40]],
        "points1": [[2, 2], [11, 20], [99, 99]],
        "visibility": [True, True, False],
    }
    return pair


def test_inline_points_are_loaded_with_the_pose(listed):
    truth = listed.load(TASK).ground_truth
    np.testing.assert_array_equal(truth.points0[1], [10, 20])
    assert truth.visible().tolist() == [True, True, False]
    np.testing.assert_allclose(truth.relative_pose.translation, [0.2, 0, 0])


def test_model_gets_the_points_asked_for_and_cannot_change_the_truth_through_them(listed):
    sample = listed.load(TASK)
    query = withhold(sample).query
    np.testing.assert_array_equal(query.points0, sample.ground_truth.points0)
    with pytest.raises(ValueError, match="read-only"):
        query.points0[:] = 0
    assert sample.ground_truth.points0[0, 0] == 1
    assert not hasattr(query, "points1")


def test_points_may_lie_in_files(listed):
    for key in ("points0", "points1", "visibility"):
        np.save(listed.root / f"{key}.npy", np.array(listed.records[0][key]))
        listed.records[0][key] = f"{key}.npy"
    assert listed.load(TASK).ground_truth.points1[1].tolist() == [11, 20]


def test_frames_make_pairs_with_the_next_of_their_sequence(folder):
    points = np.array([[1.0, 2], [3, 4]])
    arrays = {"points0": points, "points1": points + 1, "visibility": np.array([True, False])}
    for number in range(3):
        keys = {"id": f"s_clean_{number}", "scene": "s", "phase": 2}
        keys["rgb"] = folder.image(f"{number}.png")
        if number < 2:
            keys["correspondences"] = folder.write(f"{number}.npz", encode_npz(arrays))
        folder.add(**keys)
    records = folder.arrange(TASK)
    assert [record.id for record in records] == ["s_clean_0..s_clean_1", "s_clean_1..s_clean_2"]
    assert records[1].assets["rgb_b"] == "2.png"


def test_correspondences_of_a_frame_are_loaded(folder):
    points = np.array([[1.0, 2], [3, 4]])
    arrays = {"points0": points, "points1": points + 1, "visibility": np.array([True, False])}
    name = folder.write("0.npz", encode_npz(arrays))
    folder.add(id="s_0", sequence="s", rgb=folder.image("0.png"), correspondences=name)
    folder.add(id="s_1", sequence="s", rgb=folder.image("1.png"))
    truth = folder.load(TASK).ground_truth
    np.testing.assert_array_equal(truth.points1, points + 1)
    assert truth.relative_pose is None


def test_homography_alone_makes_a_grid_of_true_points(pair):
    shift = [[1, 0, 20], [0, 1, 0], [0, 0, 1]]
    pair.records[0]["homography"] = shift
    truth = pair.load(TASK).ground_truth
    np.testing.assert_allclose(truth.points1, truth.points0 + np.array([20, 0]))
    assert truth.visible().tolist() == (truth.points1[:, 0] <= 63.5).tolist()
    assert 0 < truth.visible().sum() < len(truth.points0)


def test_resizing_moves_points_cameras_and_homography_together(pair):
    pair.records[0] |= {"homography": [[1, 0, 20], [0, 1, 0], [0, 0, 1]]}
    pair.records[0]["rgb_b"] = pair.image("large.png", (96, 128))
    sample = pair.load(TASK, shorter_side_px=24)
    truth = sample.ground_truth
    assert sample.rgb.shape == sample.query.rgb_b.shape == (24, 32, 3)
    assert sample.intrinsics[0, 0] == 50
    np.testing.assert_allclose(transfer(truth.homography, truth.points0), truth.points1)
    np.testing.assert_array_equal(sample.query.points0, truth.points0)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"points0": [[70, 2]], "points1": [[1, 1]]}, r"points0\[0\] is at \(70, 2\).*64x48"),
        ({"points0": [[1, 2]], "points1": [[-1, -1]]}, "do not pad"),
        ({"points0": [[1, 2]], "points1": [[np.nan, 1]]}, "outside"),
        ({"points0": [[1, 2]], "points1": [[1, 2], [3, 4]]}, "equally many"),
        ({"points0": [[1, 2, 3]], "points1": [[1, 2, 3]]}, r"\(n, 2\)"),
        ({"points0": "all", "points1": "all"}, "all"),
        ({"points0": [["a", "b"]], "points1": [[1, 2]]}, "list of numbers"),
        ({"points0": [[1, 2]]}, "no true matches"),
        (
            {"points0": [[1, 2]], "points1": [[1e300, 1]], "visibility": [False]},
            r"holds 1e\+300, which is beyond 1e\+07 px",
        ),
        ({"homography": [[1, 0], [0, 1]]}, "3x3"),
        ({"homography": [[1, 0, 0], [1, 0, 0], [0, 0, 1]]}, "invertible"),
    ],
)
def test_impossible_truth_names_what_is_wrong(pair, keys, words):
    pair.records[0] |= {key: value for key, value in keys.items() if value != [[np.nan, 1]]}
    if keys.get("points1") == [[np.nan, 1]]:
        np.save(pair.root / "nan.npy", np.array(keys["points1"]))
        pair.records[0]["points1"] = "nan.npy"
    with pytest.raises(ManifestError, match=words):
        pair.load(TASK)


@pytest.mark.parametrize(
    "answer",
    [
        ([[1, 2]], [[3, 4]]),
        (np.array([[1, 2]], np.float32), np.array([[3, 4]], np.int64), np.array([0.5])),
        {"points0": [[1.0, 2]], "points1": [[3.0, 4]]},
        KeypointCorrespondencePrediction(np.array([[1, 2]]), np.array([[3, 4]])),
    ],
)
def test_matches_are_understood_in_every_published_form(task, answer):
    found = task.validate(answer, SAMPLE)
    assert found.points0.tolist() == [[1, 2]]
    assert found.points1.tolist() == [[3, 4]]
    assert found.points0.dtype == np.float64


@pytest.mark.parametrize("answer", [None, ([], []), (np.zeros((0, 2)), np.zeros((0, 2)))])
def test_no_match_is_an_answer(task, answer):
    assert task.validate(answer, SAMPLE).points0.shape == (0, 2)


def test_matches_that_are_not_finite_are_left_out(task):
    answer = (
        [[1, 2], [np.nan, 2], [5, 6], [1e300, 7]],
        [[1, 2], [3, 4], [np.inf, 6], [8, 9]],
        [0.1, 0.2, 0.3, 0.4],
    )
    found = task.validate(answer, SAMPLE)
    assert found.points0.tolist() == [[1, 2]]
    assert found.scores.tolist() == [0.1]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (([[1, 2]], [[1, 2], [3, 4]]), "1 points0 but 2 points1"),
        (([[1, 2, 3]], [[1, 2, 3]]), r"shape \(1, 3\)"),
        (([[1, 2]], [[1, 2]], [0.1, 0.2]), "2 scores for 1"),
        (([["a", "b"]], [[1, 2]]), "an array of numbers was expected"),
        (([[1, 2]],), "tuple"),
        ({"points0": [[1, 2]]}, "points0, points1"),
        ({"points0": [[1, 2]], "points1": [[1, 2]], "score": [1]}, "found points0"),
        (np.zeros((2, 4)), "ndarray"),
    ],
)
def test_answer_that_breaks_the_contract_names_the_sample(task, answer, words):
    with pytest.raises(ModelError, match=f"s7.*{words}"):
        task.validate(answer, SAMPLE)


@pytest.mark.parametrize("scores", [None, np.array([0.25])])
def test_saved_matches_come_back_bit_for_bit(task, scores):
    saved = KeypointCorrespondencePrediction(np.array([[1 / 3, 2]]), np.array([[7, 1e-9]]), scores)
    data = task.write_prediction(saved)
    assert data == task.write_prediction(saved)
    read = task.validate(task.read_prediction(data, "a.npz"), SAMPLE)
    np.testing.assert_array_equal(read.points0, saved.points0)
    np.testing.assert_array_equal(read.points1, saved.points1)
    assert (read.scores is None) == (scores is None)


def test_file_without_points_is_named(task):
    buffer = io.BytesIO()
    np.savez(buffer, keypoints=np.zeros((1, 2)))
    with pytest.raises(ManifestError, match=r"a\.npz.*points0"):
        task.read_prediction(buffer.getvalue(), "a.npz")
    with pytest.raises(ManifestError, match=r"a\.npz"):
        task.read_prediction(b"no archive", "a.npz")
