import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_nvs.preview import UNSCORED
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction
from rpx_nvs.visibility import HIDDEN, SEEN

SHAPE = (4, 6, 3)
TRUTH = np.full(SHAPE, 100, np.uint8)


def pictures(task, prediction, source=TRUTH, **known):
    truth = NovelViewSynthesisGroundTruth(TRUTH, **known)
    shown = Frame(Sample("s1", rgb=source), truth, NovelViewSynthesisPrediction(prediction))
    return {picture.caption: picture.image for picture in task().preview(shown)}


@pytest.mark.parametrize("form", [TRUTH, (TRUTH / 255).astype(np.float32)])
def test_source_target_prediction_and_error_are_shown(task, form):
    shown = pictures(task, form, source=np.zeros((9, 9, 3), np.uint8))
    assert list(shown) == ["source", "target", "prediction", "error"]
    assert shown["source"].shape == (9, 9, 3)
    assert all(image.dtype == np.uint8 for image in shown.values())
    assert (shown["prediction"] == TRUTH).all()


def test_larger_errors_are_darker_and_the_worst_share_a_colour(task):
    off = TRUTH.copy()
    off[0, :4] = np.array([100, 120, 220, 255])[:, None]
    error = pictures(task, off)["error"].astype(int).sum(axis=2)
    assert error[0, 0] == error[1, 0]
    assert error[0, 0] > error[0, 1] > error[0, 2] == error[0, 3]


def test_what_no_source_sees_is_blue_and_what_does_not_count_grey(task):
    seen = np.full(SHAPE[:2], SEEN, np.uint8)
    seen[0] = HIDDEN
    scored = np.ones(SHAPE[:2], np.bool_)
    scored[:, 0] = False
    shown = pictures(task, TRUTH, seen=seen, scored=scored)
    error = shown["error"].astype(int)
    assert (error[:, 0] == UNSCORED).all()
    assert error[0, 1, 2] > error[0, 1, 0] + 50
    assert error[1, 1, 2] < error[1, 1, 0] + 10


def test_sample_without_image_has_no_source_picture(task):
    assert list(pictures(task, TRUTH, source=None)) == ["target", "prediction", "error"]
