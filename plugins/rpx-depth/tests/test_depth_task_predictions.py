import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError, ModelError
from rpx_core.images import encode_png
from rpx_depth.types import DepthGroundTruth, DepthPrediction

MAP = np.array([[0.5, np.nan, -1], [np.inf, 0, 2.25]], np.float32)
SAMPLE = Sample("s7", ground_truth=DepthGroundTruth(np.ones((2, 3), np.float32)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_float_maps_become_float32_with_their_abstentions(task, dtype, wrapped):
    given = MAP.astype(dtype)
    prediction = task().validate(DepthPrediction(given) if wrapped else given, SAMPLE)
    assert prediction.depth_map.dtype == np.float32
    np.testing.assert_array_equal(prediction.depth_map, MAP)


def test_the_models_own_buffer_may_change_afterwards(task):
    buffer = MAP.copy()
    prediction = task().validate(buffer, SAMPLE)
    buffer[:] = 7
    np.testing.assert_array_equal(prediction.depth_map, MAP)


def test_a_double_beyond_float32_is_no_answer(task):
    beyond = np.full((2, 3), 1e300)
    assert np.all(np.isinf(task().validate(beyond, SAMPLE).depth_map))


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (np.ones((2, 3), np.uint16), "uint16; float metres"),
        (np.ones((2, 3), np.int64), "int64; float metres"),
        (np.ones((2, 3), np.bool_), "bool"),
        (np.ones((2, 3), np.complex64), "complex64"),
        (np.array([["a"] * 3] * 2), "<U1"),
        (np.ones((1, 2, 3), np.float32), r"\(1, 2, 3\)"),
        (np.ones(6, np.float32), r"\(6,\)"),
        (np.ones((0, 3), np.float32), r"\(0, 3\)"),
        (np.ones((3, 2), np.float32), r"\(3, 2\); the ground truth is \(2, 3\)"),
        ([[1.0, 1, 1], [1, 1, 1]], "list"),
        (None, "is None"),
    ],
)
def test_malformed_prediction_is_a_failed_sample(task, prediction, words):
    with pytest.raises(ModelError, match=f"sample s7.*{words}"):
        task().validate(prediction, SAMPLE)


class Tensor:
    """What tensors of torch have in common with it."""

    def detach(self):
        return self


@pytest.mark.parametrize(
    ("prediction", "what", "hint"),
    [
        (
            DepthPrediction(Tensor()),
            "the depth_map of the prediction is a Tensor",
            "convert the te",
        ),
        (Tensor(), "the prediction is a Tensor; a numpy array or", "convert the tensor with .cpu"),
        (None, "the prediction is None", "does every path end with `return`"),
        (DepthPrediction([[1.0]]), "the depth_map of the prediction is a list", "numpy.asarray"),
    ],
)
def test_what_is_no_array_is_called_by_its_place_and_told_how_to_become_one(
    task, prediction, what, hint
):
    with pytest.raises(ModelError, match=what) as caught:
        task().validate(prediction, SAMPLE)
    assert hint in caught.value.hint


def test_prediction_of_another_size_is_resized_where_the_options_say_so(task):
    prediction = task(resize="bilinear").validate(np.full((4, 6), 2.5), SAMPLE)
    np.testing.assert_array_equal(prediction.depth_map, np.full((2, 3), 2.5, np.float32))


@given(
    depth=arrays(
        np.float32, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.floats(width=32)
    )
)
def test_saved_predictions_read_back_bit_for_bit(task, depth):
    saved = task().write_prediction(DepthPrediction(depth))
    read = task().read_prediction(saved, "s7.npy").depth_map
    assert read.tobytes() == depth.tobytes()


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def tiff(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, "TIFF")
    return buffer.getvalue()


INTEGERS = np.array([[0, 1500, 256]], np.uint16)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.npz", npz(depth=MAP)), ("a.tiff", tiff(MAP)), ("a.npy", encode_npy(MAP.astype("f8")))],
)
def test_float_files_are_metres_whatever_the_scale_option(task, name, content):
    read = task(prediction_scale=0.001).read_prediction(content, name).depth_map
    np.testing.assert_array_equal(read, MAP)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.png", encode_png(INTEGERS)), ("a.npy", encode_npy(INTEGERS)), ("a.tif", tiff(INTEGERS))],
)
def test_integer_files_need_a_scale(task, name, content):
    read = task(prediction_scale=0.001).read_prediction(content, name).depth_map
    np.testing.assert_array_equal(read, np.float32([[0, 1.5, 0.256]]))
    with pytest.raises(ManifestError, match=name) as caught:
        task().read_prediction(content, name)
    assert "--set options.prediction_scale=0.001" in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nothing",
        encode_npy(np.ones((2, 3, 4), np.float32)),
        encode_npy(np.ones((2, 3), np.bool_)),
        npz(a=MAP, b=MAP),
        encode_png(np.ones((2, 3), np.uint8)),
        encode_png(np.ones((2, 3, 3), np.uint8)),
        encode_npy(MAP)[:-1],
    ],
)
@pytest.mark.parametrize("scale", [None, 0.001])
def test_file_that_is_no_depth_map_is_named(task, content, scale):
    with pytest.raises(ManifestError, match="odd-file"):
        task(prediction_scale=scale).read_prediction(content, "odd-file")


def test_boundary_of_a_prediction_is_where_it_jumps(task):
    depth = np.ones((4, 6), np.float32)
    depth[:, 3:] = 2
    boundary = task().boundary(DepthPrediction(depth), SAMPLE)
    assert np.flatnonzero(boundary.any(axis=0)).tolist() == [2]
