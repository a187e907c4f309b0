"""Loading pairs, checking poses, and the files that hold them."""

import json

import numpy as np
import pytest

from rpx_core.contracts import Sample, withhold
from rpx_core.errors import ManifestError, ModelError, TruthWithheldError
from rpx_core.files import Files
from rpx_pose.types import RelativePosePrediction

POSE = "relative_camera_pose"
SAMPLE = Sample("scene1_clutter_00007")
HALF = 0.5**0.5


@pytest.fixture
def task(make_task):
    return make_task(POSE)


def turned(degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def frames(folder, numbers, scene="scene1", **keys):
    for number in numbers:
        pose = np.eye(4)
        pose[0, 3] = 0.1 * number
        folder.add(
            id=f"{scene}_clutter_{number:05d}",
            scene=scene,
            phase="clutter",
            rgb=folder.image(f"{scene}/frame_{number}.png"),
            pose=pose.tolist(),
            **keys,
        )


def test_truth_is_the_pose_of_the_second_camera_in_the_first(pair):
    truth = pair.load(POSE).ground_truth
    np.testing.assert_allclose(truth.rotation, turned(10), atol=1e-12)
    np.testing.assert_allclose(truth.translation, [0.2, 0, 0], atol=1e-12)


def test_model_gets_the_second_image_and_both_cameras_but_no_truth(pair):
    sample = withhold(pair.load(POSE))
    assert sample.query.rgb_b.shape == (48, 64, 3)
    assert sample.intrinsics[0, 0] == sample.query.intrinsics_b[0, 0] == 100
    assert sample.camera_pose is None
    with pytest.raises(TruthWithheldError):
        _ = sample.ground_truth


def test_poses_in_t265_axes_are_converted(pair):
    pair.records[0] |= {"pose_convention": "t265"}
    truth = pair.load(POSE).ground_truth
    np.testing.assert_allclose(truth.rotation, turned(-10), atol=1e-12)


def test_frames_a_gap_apart_make_pairs(folder):
    frames(folder, [0, 1, 2, 4, 7])
    found = [record.id for record in folder.arrange(POSE, gap=2)]
    assert found == [
        "scene1_clutter_00000..scene1_clutter_00002",
        "scene1_clutter_00002..scene1_clutter_00004",
    ]


def test_pairs_never_cross_sequences(folder):
    frames(folder, [0], scene="scene1")
    frames(folder, [1], scene="scene2")
    assert folder.arrange(POSE) == []


# RW-081: equal file names in different scenes stay different samples.
def test_pairs_of_equally_named_files_have_their_own_ids(folder):
    frames(folder, [1, 2], scene="sceneA")
    frames(folder, [1, 2], scene="sceneB")
    records = folder.arrange(POSE)
    assert len({record.id for record in records}) == len(records) == 2
    assert len({record.rgb for record in records}) == 2


def test_a_pair_of_frames_carries_what_both_declare(folder):
    frames(folder, [3, 4], intrinsics={"fx": 50, "fy": 50, "cx": 1, "cy": 2})
    (record,) = folder.arrange(POSE)
    assert (record.scene, record.phase, record.frame) == ("scene1", "clutter", 3)
    sample = folder.load(POSE)
    assert sample.query.intrinsics_b[0, 0] == 50
    np.testing.assert_allclose(sample.ground_truth.translation, [0.1, 0, 0], atol=1e-12)


def test_frames_in_different_axes_make_no_pair(folder):
    frames(folder, [0, 1])
    folder.records[1]["pose_convention"] = "t265"
    with pytest.raises(ManifestError, match="different axes"):
        folder.arrange(POSE)


def test_frame_without_pose_is_named(folder):
    frames(folder, [0, 1])
    del folder.records[1]["pose"]
    with pytest.raises(ManifestError, match=r"00000\.\.scene1_clutter_00001.*need a pose"):
        folder.load(POSE)


def test_pair_without_second_image_is_named(pair, make_task):
    (record,) = pair.arrange(POSE)
    alone = record.model_copy(
        update={"assets": {key: record.assets[key] for key in ("pose_a", "pose_b")}}
    )
    with pytest.raises(ManifestError, match="two images"):
        make_task(POSE).load(alone, Files(pair.root))


def test_images_of_different_size_share_no_intrinsics(pair):
    del pair.records[0]["intrinsics_b"]
    assert pair.load(POSE).query.intrinsics_b is not None
    pair.records[0]["rgb_b"] = pair.image("large.png", (96, 64))
    assert pair.load(POSE).query.intrinsics_b is None


@pytest.mark.parametrize(
    ("pose", "words"),
    [
        (np.diag([1.0, 1, -1, 1]), "reflection"),
        (np.diag([2.0, 2, 2, 1]), "orthonormal"),
        (np.full((4, 4), np.nan), "finite"),
        (np.eye(3), "4x4"),
    ],
)
def test_impossible_true_pose_is_refused(pair, pose, words):
    pair.records[0]["pose_b"] = "pose.npy"
    np.save(pair.root / "pose.npy", pose)
    with pytest.raises(ManifestError, match=words):
        pair.load(POSE)


def test_validated_pose_is_a_copy_in_float64(task):
    rotation, translation = turned(20).astype(np.float32), np.ones(3, np.float32)
    answer = task.validate(RelativePosePrediction(rotation, translation), SAMPLE)
    rotation[:] = 0
    assert answer.rotation.dtype == answer.translation.dtype == np.float64
    assert answer.rotation[0, 0] == pytest.approx(np.cos(np.radians(20)), abs=1e-6)


def test_a_matrix_of_four_rows_is_a_pose(task):
    matrix = np.eye(4)
    matrix[:3, 3] = 1, 2, 3
    np.testing.assert_array_equal(task.validate(matrix, SAMPLE).translation, [1, 2, 3])


@pytest.mark.parametrize(
    "answer",
    [
        None,
        RelativePosePrediction.no_pose(),
        RelativePosePrediction(np.full((3, 3), np.nan), np.zeros(3)),
        RelativePosePrediction(np.eye(3), np.array([0, np.inf, 0])),
        RelativePosePrediction(np.eye(3), np.array([0, 1e300, 0])),
        np.full((4, 4), np.nan),
    ],
)
def test_no_pose_and_one_that_is_not_finite_are_no_answer(task, answer):
    validated = task.validate(answer, SAMPLE)
    assert validated.rotation is None
    assert validated.translation is None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (RelativePosePrediction(np.eye(3) * 1.1, np.zeros(3)), "not orthonormal"),
        (RelativePosePrediction(np.diag([1.0, -1, 1]), np.zeros(3)), "reflection"),
        (RelativePosePrediction(np.array([0, 0, 0, 1.0]), np.zeros(3)), "which order"),
        (RelativePosePrediction(np.zeros(4), np.zeros(3)), "which order"),
        (RelativePosePrediction(np.eye(2), np.zeros(3)), "which order"),
        (RelativePosePrediction(np.eye(3)[None], np.zeros(3)), r"shape \(1, 3, 3\)"),
        (RelativePosePrediction(np.eye(3), np.zeros(2)), "2 numbers"),
        (RelativePosePrediction(np.eye(3), None), "lacks its translation"),
        (
            RelativePosePrediction(np.eye(3), ["left", "up", "on"]),
            "an array of numbers was expected",
        ),
        (np.eye(3), "4x4"),
        (np.ones((4, 4)), "last row"),
        ("identity", "str"),
    ],
)
def test_answer_that_breaks_the_contract_names_the_sample(task, answer, words):
    with pytest.raises(ModelError, match=f"{SAMPLE.id}.*{words}"):
        task.validate(answer, SAMPLE)


@pytest.mark.parametrize("known", [True, False])
def test_saved_pose_comes_back_bit_for_bit(task, known):
    rng = np.random.default_rng(3)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    saved = RelativePosePrediction(rotation, rng.normal(size=3) * 1e-7, scale_known=known)
    read = task.read_prediction(task.write_prediction(saved), "a.json")
    np.testing.assert_array_equal(read.rotation, saved.rotation)
    np.testing.assert_array_equal(read.translation, saved.translation)
    assert read.scale_known is known


def test_saved_failure_comes_back_as_one(task):
    data = task.write_prediction(RelativePosePrediction.no_pose())
    assert task.read_prediction(data, "a.json").rotation is None


def test_other_programs_may_write_quaternions_and_matrices(task, tmp_path):
    answer = {"rotation_xyzw": [0, 0, HALF, HALF], "translation": [1, 0, 0]}
    read = task.read_prediction(json.dumps(answer).encode(), "a.json")
    np.testing.assert_allclose(read.rotation, turned(90), atol=1e-12)
    np.save(tmp_path / "a.npy", np.eye(4))
    matrix = task.read_prediction((tmp_path / "a.npy").read_bytes(), "a.npy")
    np.testing.assert_array_equal(matrix.rotation, np.eye(3))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "an object"),
        ('{"rotation": [1, 0, 0, 0]}', "translation"),
        ('{"quaternion": [1, 0, 0, 0], "translation": [0, 0, 0]}', "one of rotation"),
        ('{"rotation_xyzw": [0, 0, 0, 0], "translation": [0, 0, 0]}', "zero"),
        (
            '{"rotation_xyzw": "north", "translation": [0, 0, 0]}',
            "an array of numbers was expected",
        ),
        ('{"rotation": [[1]], "translation": [0, 0, 0], "scale_known": 1}', "scale_known"),
        ("not json", "a.json"),
        ("", "a.json"),
    ],
)
def test_file_that_holds_no_pose_is_named(task, text, words):
    with pytest.raises(ManifestError, match=words) as caught:
        task.read_prediction(text.encode(), "a.json")
    assert "a.json" in str(caught.value)
