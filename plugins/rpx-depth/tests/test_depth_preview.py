import numpy as np

from rpx_core.contracts import Frame, Sample
from rpx_core.images import encode_png
from rpx_depth.colours import ABSTAINED, MISSING
from rpx_depth.types import DepthGroundTruth, DepthPrediction

TRUTH = np.array([[1, 2, 3], [0, 2, 2]], np.float32)
PREDICTION = np.array([[1, 2, 6], [2, np.nan, 2.2]], np.float32)
RGB = np.full((2, 3, 3), 90, np.uint8)


def draw(task, truth, prediction, rgb=RGB) -> dict[str, np.ndarray]:
    sample = Sample("s", rgb=rgb)
    pictures = task().preview(Frame(sample, DepthGroundTruth(truth), DepthPrediction(prediction)))
    return {picture.caption: picture.image for picture in pictures}


def test_pictures_and_their_order(task):
    pictures = draw(task, TRUTH, PREDICTION)
    assert list(pictures) == ["rgb", "ground truth", "prediction", "error"]
    assert list(draw(task, TRUTH, PREDICTION, rgb=None)) == ["ground truth", "prediction", "error"]
    for image in pictures.values():
        assert (image.dtype, image.shape) == (np.uint8, (2, 3, 3))
        assert encode_png(image)


def test_equal_depths_have_equal_colours_and_holes_are_grey(task):
    pictures = draw(task, TRUTH, PREDICTION)
    truth, prediction = pictures["ground truth"], pictures["prediction"]
    np.testing.assert_array_equal(truth[0, :2], prediction[0, :2])
    assert tuple(truth[1, 0]) == tuple(prediction[1, 1]) == MISSING
    assert len({tuple(pixel) for pixel in truth[0]}) == 3


def test_error_map_tells_error_abstention_and_missing_truth_apart(task):
    error = draw(task, TRUTH, PREDICTION)["error"]
    assert tuple(error[1, 0]) == MISSING
    assert tuple(error[1, 1]) == ABSTAINED
    none, some, worst = (error[place].astype(int).sum() for place in ((0, 0), (1, 2), (0, 2)))
    assert none > some > worst


def test_frames_without_any_depth_are_drawn(task):
    nothing = np.zeros((2, 3), np.float32)
    for truth, prediction in ((nothing, nothing), (TRUTH, nothing), (nothing, PREDICTION)):
        pictures = draw(task, truth, prediction)
        assert np.all(pictures["error"][truth == 0] == MISSING)


def test_flat_and_extreme_depths_are_drawn(task):
    flat = np.full((2, 3), 2, np.float32)
    extreme = np.float64([[1e-300, 1e300, 2], [2, 2, 2]])
    pictures = draw(task, flat, extreme)
    assert pictures["prediction"][0, 0].tolist() != pictures["prediction"][0, 1].tolist()
