"""Folder layouts on tiny trees: what is found, what is said of the rest, and that it loads."""

from pathlib import Path

import numpy as np
import pytest

from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_depth.layouts.folders import FoldersOptions, open_folders
from rpx_depth.layouts.kitti import KittiOptions, open_kitti
from rpx_depth.layouts.nyu import NyuOptions, open_nyu
from rpx_depth.layouts.rpx import RpxOptions, open_rpx

RGB = encode_png(np.full((2, 3, 3), 90, np.uint8))
DEPTH = encode_png(np.full((2, 3), 512, np.uint16))
DRIVE = "2011_09_26_drive_0002_sync"
CALIBRATION = """calib_time: 09-Jan-2012 13:57:47
P_rect_02: 700 0 600 45 0 701 180 0.2 0 0 1 0.003
P_rect_03: 700 0 600 -333 0 701 180 2.3 0 0 1 0.003
"""


def plant(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(DEPTH if "depth" in name else RGB)


def records(manifest) -> dict:
    return {record.id: record for record in manifest.records(manifest.entries)}


def load_all(manifest, task) -> list:
    files = Files(manifest.root)
    return [task().load(record, files) for record in records(manifest).values()]


def folders(root, **options):
    return open_folders(FoldersOptions(root=root, **options), root)


def nyu(root, **options):
    return open_nyu(NyuOptions(root=root, **options), root)


def kitti(root, **options):
    return open_kitti(KittiOptions(root=root, **options), root)


def rpx(root, **options):
    return open_rpx(RpxOptions(root=root, **options), root)


def test_folders_match_by_stem_in_natural_order(tmp_path, task):
    plant(tmp_path, "rgb/2.png", "rgb/10.png", "depth/10.png", "depth/2.png", "rgb/.hidden.png")
    manifest = folders(tmp_path)
    assert [entry.id for entry in manifest.entries] == ["2", "10"]
    assert manifest.warnings == ()
    assert [sample.ground_truth.depth_map[0, 0] for sample in load_all(manifest, task)] == [
        np.float32(0.512)
    ] * 2
    # Files side by side are not known to be a recording.
    assert len(manifest.sequences()) == 2


def test_folders_inside_the_folders_are_sequences(tmp_path):
    plant(tmp_path, *(f"{kind}/walk/{n}.png" for kind in ("rgb", "depth") for n in (1, 2, 3, 9)))
    manifest = folders(tmp_path)
    assert [entry.id for entry in manifest.sequences()["walk"]] == [
        "walk/1", "walk/2", "walk/3", "walk/9",
    ]  # fmt: skip
    assert records(manifest)["walk/2"].scene == "walk"
    assert any("1 gaps in frame numbers: walk after 3" in w for w in manifest.warnings)


def test_folders_use_their_options(tmp_path, task):
    plant(tmp_path, "left/a.png", "z-depth/a.png")
    manifest = folders(
        tmp_path, rgb="left", depth="z-depth", depth_scale=0.01, intrinsics=(500, 501, 3, 2)
    )
    (sample,) = load_all(manifest, task)
    assert sample.ground_truth.depth_map[0, 0] == np.float32(5.12)
    assert sample.intrinsics.tolist() == [[500, 0, 3], [0, 501, 2], [0, 0, 1]]


def test_files_without_counterpart_are_named_up_to_ten(tmp_path):
    plant(tmp_path, "rgb/0.png", "depth/0.png", "depth/only/7.png")
    plant(tmp_path, *(f"rgb/extra{n}.png" for n in range(14)))
    (warning,) = folders(tmp_path).warnings
    assert warning.startswith("15 files without counterpart: rgb/extra0.png, rgb/extra1.png")
    assert warning.endswith("and 5 more")


def test_folders_without_any_pair_are_refused_with_what_was_there(tmp_path):
    plant(tmp_path, "rgb/a.png", "depth/b.png")
    with pytest.raises(ManifestError, match=r"rgb/<name>.*expected.*rgb/a\.png, depth/b\.png"):
        folders(tmp_path)


def test_one_frame_in_two_files_is_refused(tmp_path):
    plant(tmp_path, "rgb/a.png", "rgb/a.jpg", "depth/a.png")
    with pytest.raises(ManifestError, match=r"a\.jpg and a\.png"):
        folders(tmp_path)


@pytest.mark.parametrize("name", ["a\x07.png", "a\n.png"])
def test_name_that_cannot_be_an_id_is_refused(tmp_path, name):
    plant(tmp_path, f"rgb/{name}", "depth/a.png")
    with pytest.raises(ManifestError, match="printable"):
        folders(tmp_path)


def test_nyu_pairs_images_with_their_synchronised_depth(tmp_path, task):
    plant(tmp_path, "kitchen/rgb_00045.jpg", "kitchen/sync_depth_00045.png")
    plant(tmp_path, "bath/rgb_00002.png", "bath/sync_depth_00002.png", "bath/rgb_00003.png")
    manifest = nyu(tmp_path)
    found = records(manifest)
    assert sorted(found) == ["bath_00002", "kitchen_00045"]
    assert found["kitchen_00045"].scene == "kitchen"
    assert manifest.warnings == ("1 file without counterpart: bath/rgb_00003.png",)
    first, _ = load_all(manifest, task)
    assert first.ground_truth.depth_map[0, 0] == np.float32(0.512)
    assert first.intrinsics[0, 0] == pytest.approx(518.857901)


def test_nyu_file_list_keeps_what_it_names(tmp_path):
    for number in range(3):
        plant(tmp_path, f"bath/rgb_{number}.jpg", f"bath/sync_depth_{number}.png")
    listed = tmp_path / "test.txt"
    listed.write_text("/bath/rgb_1.jpg /bath/sync_depth_1.png 518.8579\n\n")
    assert list(records(nyu(tmp_path, file_list=listed))) == ["bath_1"]
    listed.write_text("bath/rgb_1.jpg x\nbath/rgb_8.jpg x\n")
    with pytest.raises(ManifestError, match=r"1 of 2 listed frames.*bath/rgb_8\.jpg"):
        nyu(tmp_path, file_list=listed)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", None])
def test_unreadable_file_list_is_named(tmp_path, content):
    plant(tmp_path, "bath/rgb_1.jpg", "bath/sync_depth_1.png")
    if content is not None:
        (tmp_path / "list.txt").write_bytes(content)
    with pytest.raises(ManifestError, match=r"list\.txt"):
        nyu(tmp_path, file_list=tmp_path / "list.txt")


def kitti_tree(root: Path, raw: str = "", annotated: str = "val") -> None:
    for frame in ("0000000005", "0000000006"):
        plant(
            root,
            f"{annotated}/{DRIVE}/proj_depth/groundtruth/image_02/{frame}.png",
            f"{raw}2011_09_26/{DRIVE}/image_02/data/{frame}.png",
        )
    plant(root, f"{raw}2011_09_26/{DRIVE}/image_02/data/0000000000.png")


@pytest.mark.parametrize("raw", ["", "raw/"])
@pytest.mark.parametrize("annotated", ["val", "data_depth_annotated/val"])
def test_kitti_joins_raw_images_and_annotated_depth(tmp_path, task, raw, annotated):
    kitti_tree(tmp_path, raw, annotated)
    manifest = kitti(tmp_path)
    frames = manifest.sequences()[DRIVE]
    assert [entry.id for entry in frames] == [f"{DRIVE}_000000000{n}" for n in (5, 6)]
    assert manifest.warnings == ()
    first, _ = load_all(manifest, task)
    assert first.ground_truth.depth_map[0, 0] == 2
    assert first.intrinsics is None


def test_kitti_takes_cameras_and_the_right_view_where_they_are(tmp_path, task):
    kitti_tree(tmp_path)
    plant(tmp_path, f"2011_09_26/{DRIVE}/image_03/data/0000000005.png")
    (tmp_path / "2011_09_26/calib_cam_to_cam.txt").write_text(CALIBRATION)
    first, second = load_all(kitti(tmp_path), task)
    assert first.intrinsics.tolist() == [[700, 0, 600], [0, 701, 180], [0, 0, 1]]
    assert first.query.baseline_m == pytest.approx(378 / 700)
    assert second.query.rgb_right is None


def test_kitti_broken_calibration_is_named(tmp_path):
    kitti_tree(tmp_path)
    (tmp_path / "2011_09_26/calib_cam_to_cam.txt").write_text("P_rect_02: 1 2 three")
    with pytest.raises(ManifestError, match=r"calib_cam_to_cam.*three"):
        kitti(tmp_path)


def test_kitti_splits_and_the_list_of_frames(tmp_path):
    kitti_tree(tmp_path)
    other = "2011_09_28_drive_0001_sync"
    plant(
        tmp_path,
        f"train/{other}/proj_depth/groundtruth/image_02/0000000005.png",
        f"2011_09_28/{other}/image_02/data/0000000005.png",
    )
    assert len(records(kitti(tmp_path, split="train"))) == 1
    assert len(records(kitti(tmp_path, split="all"))) == 3
    listed = tmp_path / "eigen.txt"
    image = f"2011_09_26/{DRIVE}/image_02/data"
    listed.write_text(
        f"{image}/0000000006.png {DRIVE}/x.png 721.5377\n{image}/0000000099.png None 721.5377\n"
        f"2011_09_28/{other}/image_02/data/0000000005.png y.png 721.5377\n"
    )
    found = records(kitti(tmp_path, split="all", file_list=listed))
    assert sorted(found) == [f"{DRIVE}_0000000006", f"{other}_0000000005"]
    listed.write_text("somewhere/else.png\n")
    with pytest.raises(ManifestError, match=r"somewhere/else\.png"):
        kitti(tmp_path, file_list=listed)


def test_kitti_drive_without_raw_images_is_named(tmp_path):
    kitti_tree(tmp_path)
    lost = "2011_09_28_drive_0001_sync"
    plant(tmp_path, f"val/{lost}/proj_depth/groundtruth/image_02/0000000005.png")
    (warning,) = kitti(tmp_path).warnings
    assert lost in warning


def rpx_tree(root: Path) -> None:
    for phase in "012":
        for frame in ("00113", "00114", "00116"):
            base = f"scenes/scene001/{phase}"
            ending = "webp" if phase == "2" else "png"
            plant(root, f"{base}/rgb/{frame}.{ending}", f"{base}/depth/{frame}.png")
            if phase != "2":
                pose = root / base / "cam_pose" / f"{frame}.npy"
                pose.parent.mkdir(exist_ok=True)
                np.save(pose, np.array([0.1, 0.2, 0.3, 0, 0, 0, 1.0]))
    (root / "splits").mkdir()
    (root / "splits/hard.txt").write_text("scene001\nscene099\n")


def test_rpx_release_becomes_sequences_by_scene_and_phase(tmp_path, task):
    rpx_tree(tmp_path)
    manifest = rpx(tmp_path)
    assert list(manifest.sequences()) == [
        "scene001_clean", "scene001_clutter", "scene001_interaction",
    ]  # fmt: skip
    found = records(manifest)
    record = found["scene001_interaction_00114"]
    assert (record.phase, record.difficulty, record.frame) == ("interaction", "hard", 114)
    assert found["scene001_clean_00113"].rgb.endswith("00113.webp")
    unposed, gaps = manifest.warnings
    assert "3 gaps in frame numbers: scene001_clutter after 00114" in gaps
    assert "3 frames without pose" in unposed
    sample = task().load(record, Files(manifest.root))
    # T265 has y up and z backward.
    np.testing.assert_allclose(sample.camera_pose[:3, 3], [0.1, -0.2, -0.3])
    assert sample.intrinsics[0].tolist() == [615, 0, 320]


def test_rpx_archives_that_were_not_unpacked_are_pointed_out(tmp_path):
    (tmp_path / "scenes/scene001/0").mkdir(parents=True)
    (tmp_path / "scenes/scene001/0/rgb.tar").write_bytes(b"")
    with pytest.raises(ManifestError, match="packed") as caught:
        rpx(tmp_path)
    assert "unpack rgb.tar" in str(caught.value)


@pytest.mark.parametrize("layout", [folders, nyu, kitti, rpx])
def test_empty_folder_says_what_was_expected(tmp_path, layout):
    with pytest.raises(ManifestError, match="expected"):
        layout(tmp_path)
    with pytest.raises(ManifestError, match="no such folder"):
        layout(tmp_path / "nowhere")


@pytest.mark.parametrize("layout", [folders, nyu, kitti, rpx])
def test_indexing_twice_gives_the_same_dataset(tmp_path, layout):
    plant(tmp_path, "rgb/a.png", "depth/a.png", "bath/rgb_1.jpg", "bath/sync_depth_1.png")
    kitti_tree(tmp_path)
    rpx_tree(tmp_path)
    assert layout(tmp_path).dataset_id == layout(tmp_path).dataset_id
