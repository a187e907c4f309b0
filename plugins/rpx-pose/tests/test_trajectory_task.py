"""Reading trajectory files, associating poses, and saying what is wrong with either."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.errors import ManifestError, ModelError
from rpx_pose.association import suspect_unit
from rpx_pose.layouts.trajectories import TrajectoriesOptions, open_trajectories
from rpx_pose.trajectory_files import read_timestamps, read_trajectory
from rpx_pose.types import Trajectory, TrajectoryPrediction

TASK = "trajectory"
HALF = 0.5**0.5
TUM = f"# a comment\n0.5 1 2 3 0 0 {HALF} {HALF}\n\n1.5 4 5 6 0 0 0 2\n"
EUROC = (
    "#timestamp, p_x, p_y, p_z, q_w, q_x, q_y, q_z, v_x\n"
    f"1403715524907143168,1,2,3,{HALF},0,0,{HALF},9\n"
    "1403715525907143168,4,5,6,1,0,0,0,9\n"
)
KITTI = "0 -1 0 1 1 0 0 2 0 0 1 3\n1 0 0 4 0 1 0 5 0 0 1 6\n"
QUARTER = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])


@pytest.fixture
def task(make_task):
    return make_task(TASK)


def straight(count: int, stamps=None) -> Trajectory:
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, 0, 3] = np.arange(count)
    return Trajectory(poses, None if stamps is None else np.array(stamps, float))


def sample(truth: Trajectory) -> Sample:
    return Sample("fr1_xyz", ground_truth=truth)


@pytest.mark.parametrize("text", [TUM, EUROC, KITTI], ids=["tum", "euroc", "kitti"])
def test_formats_are_told_apart_by_their_columns(text):
    found = read_trajectory(text.encode(), name="a.txt")
    np.testing.assert_allclose(found.poses[0, :3, :3], QUARTER, atol=1e-12)
    np.testing.assert_allclose(found.poses[:, :3, 3], [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_allclose(found.poses[1, :3, :3], np.eye(3), atol=1e-12)


def test_timestamps_become_seconds():
    assert read_trajectory(TUM.encode(), name="a").timestamps.tolist() == [0.5, 1.5]
    stamps = read_trajectory(EUROC.encode(), name="a").timestamps
    assert stamps[0] == 1403715524907143168 / 10**9
    assert stamps[1] - stamps[0] == pytest.approx(1, abs=1e-6)
    assert read_trajectory(KITTI.encode(), name="a").timestamps is None
    assert read_timestamps(b"0.0e0\n1.5e-1\n", name="t").tolist() == [0, 0.15]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no poses"),
        ("# only a comment\n", "holds no poses"),
        ("0 1 2 3 0 0 0\n", "7 numbers; 8"),
        ("0 1 2 3 0 0 0 1\n1 2 3\n", "line 2: 3 numbers, but line 1 has 8"),
        ("0 1 2 3 0 0 0 1\n1 1 2 x 0 0 0 1\n", "line 2: not numbers"),
        ("0 1 2 3 0 0 0 0\n", "no rotation"),
        ("0 1 2 nan 0 0 0 1\n", "not finite"),
        ("0 1 2 1e308 0 0 0 1\n", r"a position holds 1e\+308, which is beyond 1e\+08 m"),
        ("1e300 1 2 3 0 0 0 1\n", r"a timestamp holds 1e\+300"),
        ("nan 1 2 3 0 0 0 1\n", "timestamp is not finite"),
        ("2 1 2 3 0 0 0 1\n1 1 2 3 0 0 0 1\n", "not sorted: pose 1 at 1 follows one at 2"),
        (
            "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 0 0 1 0 0 0 0 2 0\n",
            "rotation of pose 1 is not orthonormal: R·Rᵀ is off the identity by 3 .1 of 2 are no",
        ),
        ("1 0 0 0 0 1 0 0 0 0 -1 0\n", "pose 0 is a reflection"),
        ("1.5,0,0,0,1,0,0,0\n", "whole nanoseconds"),
        ("1,0,0,0,1\n", "line 1: 5 columns"),
    ],
)
def test_broken_file_says_where_and_why(text, words):
    with pytest.raises(ManifestError, match=words) as caught:
        read_trajectory(text.encode(), name="a.txt")
    assert "a.txt" in str(caught.value)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ManifestError, match=r"a\.txt.*text"):
        read_trajectory(b"\xff\xfe\x00", name="a.txt")


def test_record_lists_a_file_with_its_times_and_an_estimate(folder):
    folder.add(
        id="KITTI_00",
        trajectory=folder.write("gt.txt", KITTI.encode()),
        timestamps=folder.write("times.txt", b"0.0\n0.1\n"),
        estimate=folder.write("orb.txt", KITTI.encode()),
    )
    loaded = folder.load(TASK)
    assert loaded.rgb is None
    assert loaded.ground_truth.timestamps.tolist() == [0, 0.1]
    assert loaded.query.timestamps.tolist() == [0, 0.1]
    assert len(loaded.query.estimate) == 2


def test_posed_frames_of_a_sequence_make_one_trajectory(folder):
    for number in (0, 1, 3):
        pose = np.eye(4)
        pose[0, 3] = number
        folder.add(id=f"s_clean_{number}", scene="s", phase=2, pose=pose.tolist())
    loaded = folder.load(TASK)
    assert loaded.id == "s_clean"
    assert loaded.ground_truth.timestamps.tolist() == [0, 1, 3]
    assert loaded.ground_truth.poses[2, 0, 3] == 3


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"trajectory": 3}, "path of a file"),
        ({"trajectory": "nowhere.txt"}, "missing"),
        ({"poses": []}, "the key `trajectory`"),
        ({"trajectory": "gt.txt", "timestamps": [0.0]}, "1 timestamps for 2 poses"),
        ({"trajectory": "gt.txt", "timestamps": [1.0, 0.0]}, "not sorted"),
        ({"trajectory": "gt.txt", "timestamps": ["a", "b"]}, "timestamps"),
    ],
)
def test_impossible_record_is_named(folder, keys, words):
    folder.write("gt.txt", KITTI.encode())
    folder.add(id="t7", **keys)
    with pytest.raises(ManifestError, match=words):
        folder.load(TASK)


def test_validated_estimate_is_a_copy_with_its_pairs(task):
    estimate = straight(3, [0.001, 0.1, 0.3])
    found = task.validate(estimate, sample(straight(4, [0, 0.1, 0.2, 0.3])))
    assert found.truth_indices.tolist() == [0, 1, 3]
    assert found.indices.tolist() == [0, 1, 2]
    estimate.poses[:] = 0
    assert found.trajectory.poses[0, 0, 0] == 1


def test_a_record_without_any_trajectory_fails_and_names_the_keys(folder):
    folder.add(id="t1", rgb=folder.image("a.png"))
    with pytest.raises(ManifestError, match="t1: it has no trajectory: the key `trajectory`"):
        folder.load(TASK)


def test_frames_without_a_pose_are_left_out_of_the_trajectory(folder):
    for number, keys in enumerate(({"pose": np.eye(4).tolist()}, {}, {"pose": np.eye(4).tolist()})):
        folder.add(id=f"s_clean_{number}", scene="s", phase=2, **keys)
    assert folder.load(TASK).ground_truth.timestamps.tolist() == [0, 2]


def test_two_references_of_one_trajectory_are_both_named(tmp_path):
    for name in ("walk_gt.txt", "walk-groundtruth.csv"):
        (tmp_path / name).write_text(TUM)
    with pytest.raises(ManifestError, match=r"walk-groundtruth\.csv and walk_gt\.txt.*'walk'"):
        open_trajectories(TrajectoriesOptions(root=tmp_path), tmp_path)


def test_an_estimate_that_leaves_out_a_part_is_noted(task):
    bent = straight(100, np.arange(100) * 0.1)
    bent.poses[:, 1, 3] = np.sin(np.arange(100))
    truth, kept = sample(bent), np.r_[:40, 70:100]
    estimate = Trajectory(bent.poses[kept], bent.timestamps[kept])
    (aligned,) = task.align("none", [frame_of(task, truth, estimate)])
    assert "read `coverage`" in aligned.note
    assert aligned.prediction.covered.sum() == 72
    (whole,) = task.align("none", [frame_of(task, truth, bent)])
    assert whole.note is None


@pytest.mark.parametrize("answer", [straight(3), straight(3).poses])
def test_poses_without_timestamps_go_by_their_index(task, answer):
    found = task.validate(answer, sample(straight(3, [5, 6, 7])))
    assert found.indices.tolist() == [0, 1, 2]


# RW-083: seconds against nanoseconds leave one pose, with an error of 0.
def test_other_unit_of_time_is_an_error_that_names_it(task):
    truth = straight(3, [0.0, 0.1, 0.2])
    with pytest.raises(ModelError, match="fr1_xyz: 1 of 3 poses are associated") as caught:
        task.validate(straight(3, [0, 100000000, 200000000]), sample(truth))
    assert "nanoseconds" in caught.value.hint


@pytest.mark.parametrize(
    ("factor", "unit"), [(1, None), (1e3, "milliseconds"), (1e6, "microseconds")]
)
def test_unit_is_guessed_from_the_time_covered(factor, unit):
    assert suspect_unit(np.arange(9.0), np.arange(9.0) * factor) == unit


def test_far_fewer_poses_are_not_taken_for_another_unit():
    truth = 1.6e9 + np.arange(3000) * 0.01
    assert suspect_unit(truth, truth[0] + 50 + np.array([0.0, 10.0, 20.0])) is None
    assert suspect_unit(truth, (truth[:300] + 2.0) * 1e9) == "nanoseconds"


def test_times_since_1970_are_told_apart_in_errors(task):
    truth, estimate = 1.6e9 + np.arange(3) * 0.25, 1.6e9 + 3600 + np.arange(3) * 0.25
    with pytest.raises(ModelError, match=r"1600000000 to 1600000000\.5 s, .* from 1600003600"):
        task.validate(straight(3, estimate), sample(straight(3, truth)))
    with pytest.raises(ModelError, match=r"at 1600003600\.25 follows one at 1600003600\.5"):
        task.validate(straight(3, estimate[[0, 2, 1]]), sample(straight(3, truth)))


def test_another_clock_is_an_error_that_shows_both(task):
    with pytest.raises(ModelError, match="runs from 0 to 2 s, the estimate from 1000 to 1002"):
        task.validate(straight(3, [1000, 1001, 1002]), sample(straight(3, [0, 1, 2])))


def test_no_pair_at_all_is_an_error_whatever_share_is_asked_for(make_task):
    task = make_task(TASK, min_associated=0)
    with pytest.raises(ModelError, match="0 of 2"):
        task.validate(straight(2, [9, 10]), sample(straight(2, [0, 1])))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (straight(3), "3 poses without timestamps for 2"),
        (straight(2, [1, 0]), "not sorted"),
        (Trajectory(np.zeros((0, 4, 4))), r"\(n, 4, 4\)"),
        (Trajectory(np.zeros((2, 3, 4))), r"\(n, 4, 4\)"),
        (Trajectory(np.full((2, 4, 4), np.nan)), "pose 0 is not finite"),
        (Trajectory(straight(2).poses + np.eye(4)[0][:, None] * [0, 0, 0, 1e300]), "a position"),
        (straight(2, [0, 1e300]), "a timestamp holds"),
        (Trajectory(np.diag([1.0, 1, -1, 1])[None].repeat(2, 0)), "reflection"),
        (Trajectory(straight(2).poses, np.zeros(3)), "3 timestamps for 2"),
        ("forward", "str"),
        (None, "is None"),
    ],
)
def test_estimate_that_breaks_the_contract_names_the_sample(task, answer, words):
    with pytest.raises(ModelError, match=f"fr1_xyz.*{words}"):
        task.validate(answer, sample(straight(2, [0, 1])))


@pytest.mark.parametrize("stamps", [None, [0.1, 0.2]])
def test_saved_estimate_comes_back_bit_for_bit(task, stamps):
    rng = np.random.default_rng(0)
    estimate = straight(2, stamps)
    estimate.poses[:, :3, 3] = rng.normal(size=(2, 3))
    truth = sample(straight(2, stamps))
    data = task.write_prediction(task.validate(estimate, truth))
    read = task.validate(task.read_prediction(data, "a.npz"), truth)
    np.testing.assert_array_equal(read.trajectory.poses, estimate.poses)
    assert (read.trajectory.timestamps is None) == (stamps is None)


def test_motion_along_a_line_is_noted_and_in_a_plane_is_not(task):
    line = sample(straight(4, [0, 1, 2, 3]))
    (aligned,) = task.align("none", [frame_of(task, line, line.ground_truth)])
    assert "one line" in aligned.note
    bent = straight(4, [0, 1, 2, 3])
    bent.poses[:, 1, 3] = [0, 1, 0, 2]
    curve = sample(bent)
    (aligned,) = task.align("none", [frame_of(task, curve, bent)])
    assert aligned.note is None


def frame_of(task, truth: Sample, estimate: Trajectory) -> Frame:
    return Frame(truth, truth.ground_truth, task.validate(estimate, truth))


def test_a_prediction_passes_validation_again(task):
    truth = sample(straight(2, [0, 1]))
    once = task.validate(straight(2, [0, 1]), truth)
    again = task.validate(once, truth)
    assert isinstance(again, TrajectoryPrediction)
    assert again.indices.tolist() == [0, 1]
