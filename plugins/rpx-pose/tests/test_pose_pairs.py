"""Choosing pairs by rotation, and the folders that datasets are indexed from."""

import numpy as np
import pytest

from rpx_core.errors import ManifestError
from rpx_core.images import encode_png
from rpx_pose.layouts.rpx_poses import RpxPosesOptions, open_rpx_poses
from rpx_pose.layouts.trajectories import TrajectoriesOptions, open_trajectories
from rpx_pose.sampling import Selection, bin_name, bin_rotations, choose_pairs

POSE = "relative_camera_pose"


@pytest.mark.parametrize(
    ("angle", "name"),
    [(0, "0-15"), (14.99, "0-15"), (15, "15-45"), (45, "45-90"), (90, "90-180"), (180, "90-180")],
)
def test_edges_belong_to_the_bin_above_and_180_to_the_last(angle, name):
    assert bin_name(int(bin_rotations(np.array([angle]))[0])) == name


def test_at_most_so_many_pairs_of_each_bin_are_chosen_in_order():
    bins = np.repeat([0, 1, 2, 3], [200, 50, 7, 0])
    chosen = choose_pairs(bins, "s", Selection(50))
    assert np.bincount(bins[chosen], minlength=4).tolist() == [50, 50, 7, 0]
    assert (np.diff(chosen) > 0).all()


def test_choice_depends_on_seed_and_sequence_alone():
    bins = np.zeros(240, np.intp)

    def choose(sequence, seed):
        return choose_pairs(bins, sequence, Selection(9, seed)).tolist()

    assert choose("a", 1) == choose("a", 1)
    assert choose("a", 1) != choose("b", 1)
    assert choose("a", 1) != choose("a", 2)


def turning(folder, count, degrees_per_frame):
    image = folder.image("image.png")
    for number in range(count):
        angle = np.radians(degrees_per_frame * number)
        pose = np.eye(4)
        pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        name = f"{number}.npy"
        np.save(folder.root / name, pose)
        folder.add(id=f"s_clean_{number}", scene="s", phase=2, rgb=image, pose=name)


def test_frames_are_paired_and_spread_by_the_rotation_between_them(folder):
    turning(folder, 20, 4)
    records = folder.arrange(POSE, gap=5, per_bin=6)
    assert len(records) == 6
    assert {record.metadata["rotation_bin"] for record in records} == {"15-45"}
    for record in records:
        first, second = (int(part.rsplit("_", 1)[1]) for part in record.id.split(".."))
        assert second - first == 5
    assert [record.frame for record in records] == sorted(record.frame for record in records)
    assert len(folder.arrange(POSE, gap=5)) == 15


def test_choosing_by_rotation_needs_the_pose_of_every_frame(folder):
    turning(folder, 8, 4)
    del folder.records[5]["pose"]
    with pytest.raises(ManifestError, match="frame s_clean_5 has no pose"):
        folder.arrange(POSE, gap=5, per_bin=6)


def release(root, scene="scene012", phase=0, frames=3):
    for number in range(frames):
        folder = root / "scenes" / scene / str(phase)
        for kind in ("rgb", "cam_pose"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        image = encode_png(np.zeros((4, 6, 3), np.uint8))
        (folder / "rgb" / f"{number:05d}.png").write_bytes(image)
        pose = np.array([0.1 * number, 0, 0, 0, 0, 0, 1.0])
        np.save(folder / "cam_pose" / f"{number:05d}.npy", pose)


def test_release_is_indexed_with_its_poses(tmp_path):
    release(tmp_path)
    (tmp_path / "scenes/scene012/0/cam_pose/00002.npy").unlink()
    manifest = open_rpx_poses(RpxPosesOptions(root=tmp_path), tmp_path)
    records = manifest.records(manifest.entries)
    assert [record.id for record in records] == ["scene012_clutter_00000", "scene012_clutter_00001"]
    assert records[0].pose_convention == "t265"
    assert records[0].intrinsics["fx"] == 615
    assert records[1].pose == "scenes/scene012/0/cam_pose/00001.npy"


def test_failed_captures_and_the_interaction_phase_are_left_out(tmp_path):
    for scene, phase in (("scene058", 0), ("scene083", 0), ("scene012", 1), ("scene072", 2)):
        release(tmp_path, scene, phase)
    release(tmp_path, "scene083", 2)
    manifest = open_rpx_poses(RpxPosesOptions(root=tmp_path), tmp_path)
    assert list(manifest.sequences()) == ["scene083_clean"]


def test_folders_without_poses_say_what_was_expected(tmp_path):
    with pytest.raises(ManifestError, match="scenes/<scene>"):
        open_rpx_poses(RpxPosesOptions(root=tmp_path), tmp_path)
    with pytest.raises(ManifestError, match="no such folder"):
        open_rpx_poses(RpxPosesOptions(root=tmp_path / "none"), tmp_path)


def test_trajectory_files_are_matched_by_their_names(tmp_path):
    for name in (
        "kitti/00_gt.txt",
        "kitti/00_gt_times.txt",
        "kitti/00_estimate.txt",
        "fr1-groundtruth.txt",
        "fr1-estimate.tum",
        "notes.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("0 0 0 0 0 0 0 1\n")
    manifest = open_trajectories(TrajectoriesOptions(root=tmp_path), tmp_path)
    found = {record.id: record.assets for record in manifest.records(manifest.entries)}
    assert found == {
        "fr1": {"trajectory": "fr1-groundtruth.txt", "estimate": "fr1-estimate.tum"},
        "kitti/00": {
            "trajectory": "kitti/00_gt.txt",
            "timestamps": "kitti/00_gt_times.txt",
            "estimate": "kitti/00_estimate.txt",
        },
    }


def test_two_candidates_for_one_file_are_an_error(tmp_path):
    for name in ("a_gt.txt", "a_estimate.txt", "a-estimate.txt"):
        (tmp_path / name).write_text("0 0 0 0 0 0 0 1\n")
    with pytest.raises(ManifestError, match="could be its estimate"):
        open_trajectories(TrajectoriesOptions(root=tmp_path), tmp_path)


def test_folder_without_references_says_what_was_expected(tmp_path):
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(ManifestError, match="-groundtruth"):
        open_trajectories(TrajectoriesOptions(root=tmp_path), tmp_path)
