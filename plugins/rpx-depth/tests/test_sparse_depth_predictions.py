"""Predictions at points: what is accepted, how it is stored, aligned and shown."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Frame, Sample
from rpx_core.errors import ManifestError, ModelError
from rpx_depth.colours import ABSTAINED, MISSING
from rpx_depth.types import SparseDepthGroundTruth, SparseDepthPrediction, SparseDepthQuery

POINTS = np.array([[2.0, 0], [0, 1], [1, 1]])
RGB = np.full((2, 3, 3), 90, np.uint8)
TRUTH = SparseDepthGroundTruth(POINTS, np.array([1.0, 2, 4]))
SAMPLE = Sample("s7", RGB, TRUTH, query=SparseDepthQuery(coordinates=POINTS.copy()))


def aligned(task, method, *frames) -> list:
    return task.align(method, [Frame(SAMPLE, *frame) for frame in frames])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8"])
def test_a_bare_array_is_the_depths_at_the_query(sparse_task, dtype):
    prediction = sparse_task().validate(np.array([0.5, np.nan, -1], dtype), SAMPLE)
    np.testing.assert_array_equal(prediction.coordinates, POINTS)
    np.testing.assert_array_equal(prediction.depths, [0.5, np.nan, -1])
    assert prediction.depths.dtype == np.float64


def test_a_prediction_may_have_points_of_its_own(sparse_task):
    own = SparseDepthPrediction(np.array([[5, 700]]), np.array([2.5], np.float32))
    prediction = sparse_task().validate(own, SAMPLE)
    assert (prediction.coordinates.tolist(), prediction.depths.tolist()) == ([[5, 700]], [2.5])


def test_an_empty_prediction_is_one(sparse_task):
    prediction = sparse_task().validate(SparseDepthPrediction(np.array([]), np.array([])), SAMPLE)
    assert (prediction.coordinates.shape, prediction.depths.shape) == ((0, 2), (0,))


@pytest.mark.parametrize("bare", [True, False])
def test_the_models_own_buffers_may_change_afterwards(sparse_task, bare):
    points, depths = POINTS.copy(), np.ones(3)
    given = depths if bare else SparseDepthPrediction(points, depths)
    prediction = sparse_task().validate(given, SAMPLE)
    depths[:], points[:] = 7, 7
    np.testing.assert_array_equal(prediction.depths, np.ones(3))
    np.testing.assert_array_equal(prediction.coordinates, POINTS)
    assert prediction.coordinates is not TRUTH.coordinates


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (np.ones(2), "2 depths were predicted for 3 points"),
        (np.ones((3, 1)), r"float64 of shape \(3, 1\)"),
        (np.ones(3, np.int64), "int64"),
        ([1.0, 2.0, 3.0], "a list"),
        (None, "None"),
        (SparseDepthPrediction(POINTS, np.ones(2)), "3 coordinates and 2 depths"),
        (SparseDepthPrediction(POINTS, np.ones(3, np.uint16)), "uint16"),
        (SparseDepthPrediction(POINTS.T, np.ones(3)), r"shape \(2, 3\)"),
        (SparseDepthPrediction(POINTS.tolist(), np.ones(3)), "coordinates are a list"),
        (SparseDepthPrediction(POINTS * [1, np.nan], np.ones(3)), "coordinate 0"),
        (SparseDepthPrediction(POINTS + np.inf, np.ones(3)), "no place"),
    ],
)
def test_malformed_prediction_is_a_failed_sample(sparse_task, prediction, words):
    with pytest.raises(ModelError, match=f"sample s7.*{words}"):
        sparse_task().validate(prediction, SAMPLE)


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


any_floats = st.floats(width=64)


@given(depths=arrays(np.float64, st.integers(0, 6), elements=any_floats), data=st.data())
def test_saved_predictions_read_back_bit_for_bit(sparse_task, depths, data):
    finite = st.floats(allow_nan=False, allow_infinity=False)
    points = data.draw(arrays(np.float64, (depths.size, 2), elements=finite))
    saved = sparse_task().write_prediction(SparseDepthPrediction(points, depths))
    read = sparse_task().read_prediction(saved, "s7.npz")
    assert read.depths.tobytes() == depths.tobytes()
    assert read.coordinates.tobytes() == points.tobytes()
    assert sparse_task().write_prediction(read) == saved


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npy", encode_npy(np.array([1.0, np.nan, 4]))),
        ("a.json", b"[1, null, 4]"),
        ("a.json", json.dumps({"coordinates": POINTS.tolist(), "depths": [1, None, 4]}).encode()),
        ("a.npz", npz(coordinates=POINTS, depths=np.array([1.0, np.nan, 4]))),
    ],
)
def test_every_file_format_says_the_same(sparse_task, name, content):
    task = sparse_task()
    prediction = task.validate(task.read_prediction(content, name), SAMPLE)
    np.testing.assert_array_equal(prediction.coordinates, POINTS)
    np.testing.assert_array_equal(prediction.depths, [1, np.nan, 4])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("odd.npz", b""),
        ("odd.npy", b"nothing"),
        ("odd.npz", npz(depths=np.ones(3))),
        ("odd.npz", npz(coordinates=POINTS)),
        ("odd.npy", encode_npy(np.ones(3))[:-1]),
        ("odd.json", b"{}"),
        ("odd.json", b"3"),
        ("odd.json", b'{"coordinates": [], "depths": [], "unit": "mm"}'),
        ("odd.json", b'{"coordinates": "here", "depths": [1]}'),
        ("odd.json", b'["far"]'),
    ],
)
def test_file_that_holds_no_prediction_is_named(sparse_task, name, content):
    with pytest.raises(ManifestError, match=name):
        sparse_task().read_prediction(content, name)


def test_alignment_fits_where_points_are_answered_and_moves_all(sparse_task):
    own = SparseDepthPrediction(
        np.vstack([POINTS[::-1] + 0.25, [[90, 90]]]), np.array([8.0, 4, 2, 30])
    )
    (one,) = aligned(sparse_task(), "median", (TRUTH, own))
    assert one.facts == {"scale": 0.5, "shift": 0, "clipped": 0}
    np.testing.assert_array_equal(one.prediction.coordinates, own.coordinates)
    np.testing.assert_array_equal(one.prediction.depths, [4, 2, 1, 15])


@pytest.mark.parametrize("method", ["none", "median", "affine", "disparity", "inverse_depth"])
def test_points_without_an_answer_stay_without(sparse_task, method):
    part = SparseDepthPrediction(POINTS, np.array([1.5, 2.5, np.nan]))
    (one,) = aligned(sparse_task(), method, (TRUTH, part))
    assert np.isnan(one.prediction.depths).tolist() == [False, False, True]
    nothing = SparseDepthPrediction(POINTS[:0], np.ones(0))
    (one,) = aligned(sparse_task(), method, (TRUTH, nothing))
    assert one.prediction.depths.size == 0


@pytest.mark.parametrize("method", ["median", "affine", "disparity", "inverse_depth"])
def test_what_no_truth_is_near_does_not_move_the_fit(sparse_task, method):
    whole = SparseDepthPrediction(POINTS, np.array([1.5, 2.5, 9.0]))
    more = SparseDepthPrediction(np.vstack([POINTS, [[0.2, 1.2]]]), np.array([1.5, 2.5, 9, 70]))
    facts = [aligned(sparse_task(), method, (TRUTH, one))[0].facts for one in (whole, more)]
    assert facts[0]["scale"] == facts[1]["scale"]
    cut = SparseDepthGroundTruth(POINTS, TRUTH.depths * [1, 1, 0])
    (one,) = aligned(sparse_task(), method, (cut, whole))
    assert one.facts["scale"] != facts[0]["scale"]


def test_one_fit_serves_all_frames_given(sparse_task):
    double = SparseDepthPrediction(POINTS, 2 * TRUTH.depths)
    same = SparseDepthPrediction(POINTS, TRUTH.depths)
    together = aligned(sparse_task(), "affine", (TRUTH, double), (TRUTH, same))
    assert together[0].facts == together[1].facts
    apart = [aligned(sparse_task(), "affine", (TRUTH, one))[0] for one in (double, same)]
    assert [one.facts["scale"] for one in apart] == pytest.approx([0.5, 1])


def test_floor_and_clamp_count_what_they_move(sparse_task):
    task = sparse_task(min_depth=0.5, max_depth=3, clamp=True, nonpositive="floor")
    (one,) = aligned(task, "none", (TRUTH, SparseDepthPrediction(POINTS, np.array([-1.0, 2, 9]))))
    assert one.prediction.depths.tolist() == [0.5, 2, 3]
    assert one.facts == {"floored": 1, "clamped": 1}


def draw(task, truth, depths) -> dict[str, np.ndarray]:
    """The pictures of points on a 90x60 image."""
    rgb = np.full((60, 90, 3), 200, np.uint8)
    points = np.array([[10.0, 10], [40, 30], [89, 59]])
    frame = Frame(
        Sample("s", rgb),
        SparseDepthGroundTruth(points, np.float64(truth)),
        SparseDepthPrediction(points, np.float64(depths)),
    )
    return {picture.caption: picture.image for picture in task.preview(frame)}


def test_pictures_show_points_in_the_colours_of_depth_and_error(sparse_task):
    pictures = draw(sparse_task(), [1, 2, 0], [1, np.nan, 3])
    assert list(pictures) == ["rgb", "ground truth", "prediction", "error"]
    truth, prediction, error = list(pictures.values())[1:]
    np.testing.assert_array_equal(truth[10, 10], prediction[10, 10])
    assert tuple(truth[59, 89]) == tuple(prediction[30, 40]) == MISSING
    assert tuple(error[30, 40]) == ABSTAINED
    assert tuple(error[59, 89]) == MISSING
    assert len({tuple(pixel) for pixel in (truth[10, 10], truth[30, 40], truth[0, 0])}) == 3
    for image in pictures.values():
        assert (image.dtype, image.shape) == (np.uint8, (60, 90, 3))


def test_pictures_leave_the_image_alone(sparse_task):
    assert np.all(draw(sparse_task(), [1, 2, 3], [1, 2, 3])["rgb"] == 200)


def test_without_an_image_there_are_no_pictures(sparse_task):
    prediction = SparseDepthPrediction(POINTS, TRUTH.depths)
    assert list(sparse_task().preview(Frame(Sample("s"), TRUTH, prediction))) == []
