"""Loading points: every listed form, and one clear error for what is wrong."""

import io
import json

import numpy as np
import pytest

from rpx_core.arrays import encode_npy
from rpx_core.errors import ConfigError, ManifestError
from rpx_depth.types import SparseDepthQuery

POINTS, DEPTHS = [[2, 0], [0.4, 1.49], [1, 1]], [3.0, 0.5, 4]


@pytest.fixture
def points(folder):
    folder.keys |= {"coordinates": POINTS, "depths": DEPTHS}
    return folder


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "encode"),
    [
        ("a.npy", encode_npy),
        ("a.npz", lambda array: npz(values=array)),
        ("a.json", lambda array: json.dumps(array.tolist()).encode()),
    ],
)
def test_files_hold_what_lists_hold(points, name, encode):
    inline = points.load_points().ground_truth
    points.put("coordinates", f"coordinates-{name}", encode(np.array(POINTS)))
    points.put("depths", f"depths-{name}", encode(np.array(DEPTHS)))
    listed = points.load_points().ground_truth
    for truth in (inline, listed):
        assert (truth.coordinates.dtype, truth.depths.dtype) == (np.float64, np.float64)
        np.testing.assert_array_equal(truth.coordinates, POINTS)
        np.testing.assert_array_equal(truth.depths, DEPTHS)


def test_whole_pixels_may_be_integers(points):
    points.put("coordinates", "c.npy", encode_npy(np.array([[2, 0], [1, 1], [0, 0]], np.uint16)))
    assert points.load_points().ground_truth.coordinates.tolist() == [[2, 0], [1, 1], [0, 0]]


def test_the_query_is_the_points_alone_and_a_copy(points):
    sample = points.load_points()
    assert isinstance(sample.query, SparseDepthQuery)
    np.testing.assert_array_equal(sample.query.coordinates, POINTS)
    sample.query.coordinates[:] = 0
    np.testing.assert_array_equal(sample.ground_truth.coordinates, POINTS)


def test_the_right_view_comes_with_the_query(points):
    points.put_rgb(key="rgb_right")
    points.keys["baseline_m"] = 0.12
    query = points.load_points().query
    assert (query.rgb_right.shape, query.baseline_m) == ((2, 3, 3), 0.12)


@pytest.mark.parametrize("nothing", [None, 0, -1.0])
def test_a_depth_that_is_none_leaves_its_point_in_the_query(points, nothing):
    points.keys["depths"] = [3.0, nothing, 4.0]
    sample = points.load_points()
    assert sample.ground_truth.depths.tolist() == [3, 0, 4]
    assert len(sample.query.coordinates) == 3


def test_depths_outside_the_range_are_left_out_and_its_ends_kept(points):
    points.put("depths", "d.npy", encode_npy(np.float32([0.3, 0.7, 5.1])))
    sample = points.load_points(min_depth=0.7, max_depth=5)
    assert sample.ground_truth.depths.tolist() == [0, pytest.approx(0.7), 0]
    assert len(sample.query.coordinates) == 3


def test_an_image_without_points_is_loaded(points):
    points.keys |= {"coordinates": [], "depths": []}
    truth = points.load_points().ground_truth
    assert (truth.coordinates.shape, truth.depths.shape) == ((0, 2), (0,))


# RW-052: the image is 3 wide and 2 high.
@pytest.mark.parametrize("point", [[3, 0], [0, 2], [-1, 0], [2.5, 0], [0, 1e300], [None, 0]])
def test_a_point_outside_the_image_is_named(points, point):
    points.keys["coordinates"] = [[0, 0], [1, 1], point]
    words = r"scene1_clutter_00007.*point 2.*3 wide and 2 high \(1 of 3 points do\)"
    with pytest.raises(ManifestError, match=words):
        points.load_points()


# RW-052
def test_swapped_rows_and_columns_are_told(points):
    points.keys["coordinates"] = [[0, 2], [1, 0], [1, 1]]
    with pytest.raises(ManifestError, match="outside the image") as caught:
        points.load_points()
    assert "swapped" in caught.value.hint


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("coordinates", [[1, 2, 3]], r"scene1_clutter_00007.*float64 of shape \(1, 3\)"),
        ("coordinates", [1, 2], r"shape \(2,\)"),
        ("coordinates", [[1, 2], [3]], "list of numbers"),
        ("coordinates", [["a", "b"]], "list of numbers"),
        ("coordinates", [["1", "2"]], "list of numbers"),
        ("coordinates", [[True, False]], "not of bool"),
        ("coordinates", {"x": 1}, "not dict"),
        ("coordinates", 3, "not int"),
        ("coordinates", "nowhere.npy", r"nowhere\.npy.*missing"),
        ("depths", [[1, 2, 3]], r"scene1_clutter_00007.*`depths` are float64 of shape \(1, 3\)"),
        ("depths", [1, 2], "3 points, `depths` are 2"),
        ("depths", ["far"], "list of numbers"),
        ("depths", [1, 2, 1e300], r"scene1_clutter_00007: `depths`: holds 1e\+300"),
        ("depths", 2.0, "not float"),
        ("depths", "../d.npy", "climbs"),
    ],
)
def test_wrong_values_are_named(points, key, value, words):
    points.keys[key] = value
    with pytest.raises(ManifestError, match=words):
        points.load_points()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("whole.npy", encode_npy(np.array([3000, 500, 4000])), "int64"),
        ("flags.npy", encode_npy(np.ones(3, bool)), "bool"),
        ("two.npz", npz(a=np.ones(3), b=np.ones(3)), r"two\.npz.*exactly one"),
        ("cut.npy", encode_npy(np.ones(3))[:-1], r"cut\.npy"),
        ("empty.npy", b"", r"empty\.npy"),
        ("text.json", b"[1, 2", r"text\.json"),
        ("nan.json", b"[1, 2, NaN]", r"nan\.json.*finite"),
        ("object.json", b'{"depths": [1, 2, 3]}', r"object\.json.*not dict"),
    ],
)
def test_wrong_depth_file_is_named(points, name, content, words):
    points.put("depths", name, content)
    with pytest.raises(ManifestError, match=words):
        points.load_points()


def test_whole_numbers_are_taken_for_millimetres(points):
    points.put("depths", "d.npy", encode_npy(np.array([3000, 500, 4000], np.uint16)))
    with pytest.raises(ManifestError) as caught:
        points.load_points()
    assert "divide by 1000" in caught.value.hint


def test_points_need_an_image(points):
    del points.keys["rgb"]
    with pytest.raises(ManifestError, match="rgb"):
        points.load_points()


@pytest.mark.parametrize(
    "options", [{"min_depth": 5, "max_depth": 3}, {"max_depth": 0}, {"nonpositive": "floor"}]
)
def test_impossible_options_are_refused(sparse_task, options):
    with pytest.raises(ConfigError):
        sparse_task(**options)
