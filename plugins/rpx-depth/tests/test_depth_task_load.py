import io

import numpy as np
import pytest
from PIL import Image

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError, ManifestError, MetricError
from rpx_core.images import encode_png
from rpx_depth.monocular_depth import MonocularDepth, MonocularDepthOptions
from rpx_depth.options import DepthOptions
from rpx_depth.sparse_depth import SparseDepth
from rpx_depth.types import DepthGroundTruth, SparseDepthGroundTruth

MILLIMETRES = np.array([[0, 500, 1500], [65535, 2000, 301]], np.uint16)
METRES = np.array([[0, 0.5, 1.5], [65.535, 2, 0.301]], np.float32)
RIGHT = [[600.0, 0, 350.0], [0, 600.0, 240.0], [0, 0, 1.0]]


def tiff(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, "TIFF")
    return buffer.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


# RW-046: 16 bits stay 16 bits, and 0 stays a hole.
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("depth.png", encode_png(MILLIMETRES)),
        ("depth.tiff", tiff(METRES)),
        ("depth.npy", encode_npy(METRES)),
        ("depth.npy", encode_npy(MILLIMETRES)),
        ("depth.npz", npz(depth=METRES)),
    ],
)
def test_every_depth_format_gives_metres(folder, name, content):
    folder.put("depth", name, content)
    depth = folder.load().ground_truth.depth_map
    assert depth.dtype == np.float32
    np.testing.assert_array_equal(depth, METRES)


# RW-047: the same stored 1500 is 1.5 m or 5.859375 m, by what the dataset says.
@pytest.mark.parametrize(("scale", "metres"), [(0.001, 1.5), (1 / 256, 5.859375)])
def test_depth_scale_of_the_record_is_used(folder, scale, metres):
    folder.put("depth", "depth.png", encode_png(MILLIMETRES))
    folder.keys["depth_scale"] = scale
    assert folder.load().ground_truth.depth_map[0, 2] == pytest.approx(metres, abs=1e-6)


def test_what_is_no_depth_becomes_zero(folder):
    stored = np.array([[np.nan, np.inf, -1], [0, 2, 3]], np.float32)
    folder.put("depth", "depth.npy", encode_npy(stored))
    np.testing.assert_array_equal(folder.load().ground_truth.depth_map, [[0, 0, 0], [0, 2, 3]])


# RW-048: the cap leaves truth out; it never clips it.
def test_depths_outside_the_range_are_left_out_and_its_ends_kept(folder):
    folder.put("depth", "depth.png", encode_png(MILLIMETRES))
    depth = folder.load(min_depth=0.5, max_depth=1.5).ground_truth.depth_map
    np.testing.assert_array_equal(depth, np.float32([[0, 0.5, 1.5], [0, 0, 0]]))


# RW-049: rows 153 to 370, columns 44 to 1196.
def test_crop_leaves_out_what_lies_outside_it(folder):
    folder.put_rgb((375, 1242))
    folder.put("depth", "depth.npy", encode_npy(np.full((375, 1242), 9, np.float32)))
    depth = folder.load(crop="garg").ground_truth.depth_map
    assert np.count_nonzero(depth) == 251354
    assert np.all(depth[153:371, 44:1197] == 9)
    assert np.count_nonzero(folder.load().ground_truth.depth_map) == 465750


def test_crop_of_another_camera_is_refused(folder):
    folder.put("depth", "depth.npy", encode_npy(METRES))
    with pytest.raises(MetricError, match="480x640"):
        folder.load(crop="nyu-eigen")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("eight.png", encode_png(np.zeros((2, 3), np.uint8)), "8-bit grey PNG"),
        ("colour.png", encode_png(np.zeros((2, 3, 3), np.uint8)), "8-bit RGB PNG"),
        ("cube.npy", encode_npy(np.ones((2, 3, 1), np.float32)), r"shape \(2, 3, 1\)"),
        ("flags.npy", encode_npy(np.ones((2, 3), np.bool_)), "bool"),
        ("two.npz", npz(a=METRES, b=METRES), "exactly one"),
        ("text.png", b"not an image", "not an image"),
        ("cut.png", encode_png(MILLIMETRES)[:40], "cut.png"),
        ("empty.npy", b"", "empty.npy"),
        ("empty.png", b"", "empty.png"),
    ],
)
def test_wrong_depth_file_is_named(folder, name, content, words):
    folder.put("depth", name, content)
    with pytest.raises(ManifestError, match=words) as caught:
        folder.load()
    assert name in str(caught.value)


def test_missing_depth_file_is_named(folder):
    folder.keys["depth"] = "nowhere.png"
    with pytest.raises(ManifestError, match=r"nowhere\.png.*missing"):
        folder.load()


@pytest.mark.parametrize("depth", [None, 3, ["a.png"]])
def test_depth_must_be_listed_as_a_path(folder, depth):
    folder.keys["depth"] = depth
    with pytest.raises(ManifestError, match=r"scene1_clutter_00007.*depth"):
        folder.load()


def test_sample_without_image_is_refused(folder):
    folder.put("depth", "depth.npy", encode_npy(METRES))
    del folder.keys["rgb"]
    with pytest.raises(ManifestError, match="rgb"):
        folder.load()


@pytest.mark.parametrize("scale", [0, -1, "0.001", True])
def test_impossible_depth_scale_is_refused(folder, scale):
    folder.put("depth", "depth.png", encode_png(MILLIMETRES))
    folder.keys["depth_scale"] = scale
    with pytest.raises(ManifestError, match="depth scale"):
        folder.load()


def test_image_and_depth_of_different_size_are_both_named(folder):
    folder.put_rgb((4, 6))
    folder.put("depth", "depth.npy", encode_npy(METRES))
    with pytest.raises(ManifestError, match=r"depth\.npy is 2x3, but rgb rgb\.png is 4x6"):
        folder.load()


def test_camera_and_identity_come_with_the_sample(folder):
    folder.put("depth", "depth.npy", encode_npy(METRES))
    pose = np.eye(4)
    pose[:3, 3] = 1, 2, 3
    folder.keys |= {
        "intrinsics": {"fx": 600, "fy": 601, "cx": 320, "cy": 240},
        "pose": pose.tolist(),
        "difficulty": "hard",
    }
    sample = folder.load()
    np.testing.assert_array_equal(sample.camera_pose, pose)
    np.testing.assert_array_equal(sample.intrinsics, [[600, 0, 320], [0, 601, 240], [0, 0, 1]])
    assert (sample.scene, sample.phase, sample.frame) == ("scene1", "clutter", 7)
    assert (sample.sequence, sample.difficulty) == ("scene1_clutter", "hard")


def test_right_view_is_given_to_the_model_in_the_query(folder):
    folder.put("depth", "depth.npy", encode_npy(METRES))
    folder.put_rgb(key="rgb_right")
    folder.keys |= {"intrinsics_right": RIGHT, "baseline_m": 0.12}
    query = folder.load().query
    assert query.rgb_right.shape == (2, 3, 3)
    assert query.baseline_m == 0.12
    np.testing.assert_array_equal(query.intrinsics_right, RIGHT)


def test_query_is_empty_without_a_right_view(folder):
    folder.put("depth", "depth.npy", encode_npy(METRES))
    query = folder.load().query
    assert (query.rgb_right, query.intrinsics_right, query.baseline_m) == (None, None, None)


def test_right_view_of_another_size_is_refused(folder):
    folder.put("depth", "depth.npy", encode_npy(METRES))
    folder.put_rgb((3, 3), key="rgb_right")
    with pytest.raises(ManifestError, match=r"rgb_right rgb_right\.png is 3x3"):
        folder.load()


@pytest.mark.parametrize("baseline", [0, -0.1, "0.1", True, float("inf")])
def test_impossible_baseline_is_refused(folder, baseline):
    folder.put("depth", "depth.npy", encode_npy(METRES))
    folder.put_rgb(key="rgb_right")
    folder.keys["baseline_m"] = baseline
    with pytest.raises(ManifestError):
        folder.load()


@pytest.mark.parametrize(
    "options",
    [{"min_depth": 5, "max_depth": 3}, {"max_depth": 0}, {"nonpositive": "floor"}],
)
def test_impossible_options_are_refused(task, options):
    with pytest.raises(ConfigError):
        task(**options)


def test_the_background_of_a_rendering_is_refused_unless_it_is_left_out(folder):
    folder.put("depth", "depth.npy", encode_npy(np.array([[1e10, 2, 3], [1, 2, 3]], np.float32)))
    with pytest.raises(ManifestError, match=r"depth\.npy: holds 1e\+10, which") as caught:
        folder.load()
    assert "max_depth" in caught.value.hint
    assert folder.load(max_depth=80).ground_truth.depth_map[0].tolist() == [0, 2, 3]


@pytest.mark.parametrize("dtype", [np.uint16, np.int64, np.bool_])
def test_a_truth_in_whole_numbers_is_not_taken_for_metres(dtype):
    whole = np.full(6, 2000).astype(dtype)
    dense = Sample("s1", ground_truth=DepthGroundTruth(whole.reshape(2, 3)))
    sparse = Sample("s1", ground_truth=SparseDepthGroundTruth(np.zeros((6, 2)), whole))
    for task, sample in (
        (MonocularDepth(MonocularDepthOptions()), dense),
        (SparseDepth(DepthOptions()), sparse),
    ):
        with pytest.raises(ManifestError, match=r"sample s1: .* metres as floats") as caught:
            task.complete(sample)
        assert "divide by 1000" in str(caught.value.hint)


def test_a_truth_of_another_size_than_its_image_is_refused_before_the_model_is_asked():
    task = MonocularDepth(MonocularDepthOptions())
    truth = DepthGroundTruth(np.ones((6, 4), np.float32))
    image = np.zeros((4, 6, 3), np.uint8)
    with pytest.raises(ManifestError, match=r"sample s1: `depth_map` .* \(6, 4\), .* \(4, 6\)"):
        task.complete(Sample("s1", rgb=image, ground_truth=truth))
    task.complete(Sample("s1", ground_truth=truth))
    task.complete(Sample("s1", rgb=image))
