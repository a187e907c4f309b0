"""From records to samples: listed samples, frames of a sequence, and every way to be wrong."""

import io

import numpy as np
import pytest
from PIL import Image

from rpx_core.arrays import encode_npy
from rpx_core.errors import ManifestError
from rpx_core.geometry import opencv_from_t265
from rpx_core.images import encode_png
from rpx_nvs.visibility import HIDDEN, SEEN

SHAPE = (5, 7)
RIGHT = [[20.0, 0, 6.0], [0, 20.0, 2.0], [0, 0, 1.0]]


def depth_map(value=1.0, shape=SHAPE):
    return encode_npy(np.full(shape, value, np.float32))


def test_listed_sample_has_a_source_a_target_and_a_pose(folder):
    folder.add_pair()
    sample = folder.load_one()
    assert (sample.rgb == 40).all()
    assert (sample.ground_truth.rgb == 80).all()
    query = sample.query
    assert (query.sources[0].rgb == sample.rgb).all()
    assert query.target_size == SHAPE
    assert query.target_pose[0, 3] == 0.1
    # Without a pose of its own the source is the world.
    assert (query.relative_pose == query.target_pose).all()
    assert query.target_intrinsics is None
    assert sample.ground_truth.seen is None


def test_target_pose_may_be_listed_as_camera_pose(folder):
    pose = np.eye(4)
    pose[1, 3] = 3
    folder.add_pair(target_pose=None, camera_pose=pose.tolist())
    assert folder.load_one().ground_truth.camera_pose[1, 3] == 3


def test_relative_pose_leads_from_target_to_source(folder):
    turn = np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]])
    target = np.eye(4)
    target[:3, 3] = (4, 5, 6)
    folder.add_pair(pose=turn.tolist(), target_pose=target.tolist())
    query = folder.load_one().query
    point = np.array([0.3, -0.2, 1.5, 1])
    np.testing.assert_allclose(turn @ (query.relative_pose @ point), target @ point)


def test_published_poses_are_turned_to_opencv_axes_once(folder):
    pose = np.eye(4)
    pose[:3, 3] = (1, 2, 3)
    folder.add_pair(target_pose=pose.tolist(), pose_convention="t265")
    loaded = folder.load_one().query.target_pose
    np.testing.assert_allclose(loaded, opencv_from_t265(pose))
    np.testing.assert_allclose(loaded[:3, 3], (1, -2, -3))


def test_target_camera_is_its_own_or_that_of_the_same_second_image_or_the_sources(folder):
    shared = {"intrinsics": {"fx": 9, "fy": 9, "cx": 1, "cy": 1}, "intrinsics_b": RIGHT}
    folder.add_pair(id="a_0", **shared)
    folder.add_pair(id="b_0", **shared, rgb_b="target.png")
    folder.add_pair(id="c_0", **shared, rgb_b="target.png", target_intrinsics=np.eye(3).tolist())
    focal = {sample.id: sample.query.target_intrinsics[0, 0] for sample in folder.load()}
    assert focal == {"a_0": 9, "b_0": 20, "c_0": 1}


def test_each_frame_is_paired_with_the_next(folder):
    for frame in range(3):
        folder.add_frame(frame)
    samples = folder.load()
    names = [f"scene1_clutter_0000{n}..scene1_clutter_0000{n + 1}" for n in range(2)]
    assert [sample.id for sample in samples] == names
    first = samples[0]
    assert (first.rgb == 0).all()
    assert (first.ground_truth.rgb == 10).all()
    assert (first.scene, first.sequence, first.frame) == ("scene1", "scene1_clutter", 0)
    assert first.query.relative_pose[0, 3] == pytest.approx(0.1)
    assert first.query.target_pose[0, 3] == pytest.approx(0.1)


def test_gap_counts_frame_numbers_and_missing_frames_make_no_sample(folder):
    for frame in (0, 1, 3, 4, 5):
        folder.add_frame(frame)
    assert [record.frame for record in folder.arranged(gap=2)] == [1, 3]
    assert [record.frame for record in folder.arranged()] == [0, 3, 4]
    assert folder.arranged(gap=9) == []


def test_further_sources_are_the_frames_before(folder):
    for frame in range(5):
        folder.add_frame(frame)
    samples = folder.load(sources=3)
    assert [sample.frame for sample in samples] == [2, 3]
    views = samples[0].query.sources
    assert [view.rgb[0, 0, 0] for view in views] == [20, 10, 0]
    assert [round(float(view.pose[0, 3]), 9) for view in views] == [0.2, 0.1, 0]
    assert all(view.depth is not None and view.intrinsics is not None for view in views)


def test_listed_sources_are_read_too(folder):
    view = {"rgb": folder.image("other.png", 7), "pose": np.eye(4).tolist()}
    folder.add_pair(pose=np.eye(4).tolist(), sources=[view])
    assert folder.load_one().query.sources[1].rgb[0, 0, 0] == 7


def test_source_depth_is_given_unless_the_protocol_withholds_it(folder):
    for frame in range(2):
        folder.add_frame(frame)
    assert (folder.load_one().query.sources[0].depth == 1).all()
    withheld = folder.load_one(source_depth=False)
    assert withheld.query.sources[0].depth is None
    # The truth still knows what was visible.
    assert withheld.ground_truth.seen is not None


def test_visibility_follows_from_both_depths(folder):
    for frame in range(2):
        folder.add_frame(frame)
    seen = folder.load_one().ground_truth.seen
    # 10 cm to the right at 1 m is 2 px of the 7.
    assert (seen[:, :5] == SEEN).all()
    assert (seen[:, 5:] == HIDDEN).all()


def test_target_mask_says_which_pixels_count(folder):
    mask = np.zeros(SHAPE, np.uint8)
    mask[1:3] = 5
    folder.add_pair(target_mask=folder.write("mask.png", encode_png(mask)))
    assert (folder.load_one().ground_truth.scored == (mask > 0)).all()


def test_objects_of_the_target_frame_count_alone_when_asked(folder):
    masks = [np.eye(5, 7, k, dtype=np.uint16) * 300 for k in range(2)]
    for frame, mask in enumerate(masks):
        folder.add_frame(frame, mask=folder.write(f"mask/{frame}.png", encode_png(mask)))
    assert folder.load_one().ground_truth.scored is None
    scored = folder.load_one(objects_only=True).ground_truth.scored
    assert (scored == (masks[1] > 0)).all()


def test_depth_scales_belong_to_their_frames(folder):
    stored = encode_png(np.full(SHAPE, 500, np.uint16))
    for frame, scale in enumerate((0.001, 0.002)):
        name = folder.write(f"depth/{frame}.png", stored)
        folder.add_frame(frame, depth=name, depth_scale=scale)
    sample = folder.load_one()
    assert sample.query.sources[0].depth[0, 0] == pytest.approx(0.5)
    assert sample.ground_truth.depth[0, 0] == pytest.approx(1.0)


def test_checksums_of_all_frames_go_along(folder):
    for frame in range(2):
        folder.add_frame(frame, checksums={f"rgb/{frame}.png": f"sha256:{frame:064x}"})
    (record,) = folder.arranged()
    assert set(record.checksums) == {"rgb/0.png", "rgb/1.png"}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"target_pose": None}, "where the target is seen from"),
        ({"rgb": None}, "no `rgb`"),
        ({"target_rgb": ["a.png"]}, "`target_rgb` must be the path"),
        ({"target_rgb": "none.png"}, "none.png"),
        ({"target_pose": [1, 2]}, "4x4"),
        ({"sources": "x.png"}, "must be a list"),
        ({"sources": [{"rgb": "source.png"}]}, "each needs a pose"),
        ({"sources": [{"rgb": "source.png"}], "pose": np.eye(4).tolist()}, "is no view"),
        ({"sources": [7], "pose": np.eye(4).tolist()}, "is no view"),
    ],
)
def test_bad_record_is_one_clear_error(folder, keys, message):
    folder.add_pair(**keys)
    with pytest.raises(ManifestError, match=message):
        folder.load()


@pytest.mark.parametrize("key", ["depth", "target_depth", "target_mask"])
def test_maps_of_another_size_than_their_image_are_refused(folder, key):
    content = depth_map(shape=(5, 6)) if "depth" in key else encode_png(np.ones((5, 6), np.uint8))
    name = folder.write(f"{key}.npy" if "depth" in key else "mask.png", content)
    folder.add_pair(**{key: name})
    with pytest.raises(ManifestError, match=rf"pair_0: {key} .*5x6.*5x7"):
        folder.load()


def glass(folder, name):
    """A picture of half-transparent red."""
    buffer = io.BytesIO()
    Image.fromarray(np.full((*SHAPE, 4), (200, 0, 0, 128), np.uint8)).save(buffer, "PNG")
    return folder.write(name, buffer.getvalue())


# RW-098: the colours under transparency are not defined, unless somebody says on what it lies.
@pytest.mark.parametrize("key", ["rgb", "target_rgb"])
def test_transparent_images_are_refused(folder, key):
    folder.add_pair(**{key: glass(folder, "glass.png")})
    with pytest.raises(ManifestError, match=r"glass\.png: has transparent pixels"):
        folder.load()


def test_transparent_images_are_laid_over_the_declared_background(folder):
    pose = np.eye(4).tolist()
    view = {"rgb": glass(folder, "other.png"), "pose": pose}
    rgb, target = glass(folder, "a.png"), glass(folder, "b.png")
    folder.add_pair(rgb=rgb, target_rgb=target, pose=pose, sources=[view])
    sample = folder.load_one(background=(255, 255, 255))
    for image in (sample.rgb, sample.ground_truth.rgb, *(v.rgb for v in sample.query.sources)):
        assert (image == (227, 127, 127)).all()


def test_objects_only_needs_a_mask(folder):
    folder.add_pair()
    with pytest.raises(ManifestError, match="objects_only"):
        folder.load(objects_only=True)


def test_mixed_pose_conventions_in_a_sequence_are_refused(folder):
    folder.add_frame(0)
    folder.add_frame(1, pose_convention="t265")
    with pytest.raises(ManifestError, match=r"scene1_clutter.*conventions"):
        folder.load()


def test_frame_without_pose_fails_alone(folder):
    folder.add_frame(0)
    folder.add_frame(1, pose=None)
    with pytest.raises(ManifestError, match="where the target is seen from"):
        folder.load()
