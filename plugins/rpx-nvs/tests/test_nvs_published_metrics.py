"""The published metrics: their numbers, and how far they are from what their names promise."""

import numpy as np
import pytest

from rpx_nvs.global_similarity import global_ssim, published_psnr
from rpx_nvs.metrics.published import Published
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction

PREDICTION = np.array([100, 100, 200, 200], np.uint8).reshape(2, 2, 1)
TRUTH = np.array([110, 90, 210, 190], np.uint8).reshape(2, 2, 1)


def test_published_example():
    assert published_psnr(PREDICTION, TRUTH) == pytest.approx(28.131, abs=5e-4)
    assert global_ssim(PREDICTION, TRUTH) == pytest.approx(0.98061, abs=5e-6)


# RW-095: one window over the whole image is far above SSIM.
def test_one_window_sees_no_structure():
    rows, columns = np.mgrid[0:16, 0:16]
    truth = ((16 * rows + columns) % 256).astype(np.uint8)
    prediction = np.clip(truth.astype(int) + 40 * ((rows + columns) % 2), 0, 255).astype(np.uint8)
    assert global_ssim(prediction, truth) == pytest.approx(0.957049019, abs=1e-6)


def test_equal_images_have_100_decibels():
    assert published_psnr(TRUTH, TRUTH) == 100
    assert global_ssim(TRUTH, TRUTH) == 1


def test_a_view_that_is_nearly_equal_exceeds_an_equal_one():
    truth = np.full((256, 256, 3), 90, np.uint8)
    prediction = truth.copy()
    prediction[0, 0, 0] += 1
    assert published_psnr(prediction, truth) > 100


def test_metric_averages_images():
    metric = Published()
    images = [(PREDICTION, TRUTH), (TRUTH, TRUTH)]
    states = [
        metric.measure(None, NovelViewSynthesisGroundTruth(t), NovelViewSynthesisPrediction(p))
        for p, t in images
    ]
    one = metric.result(states[0])
    assert one["psnr_equal100"] == pytest.approx(28.131, abs=5e-4)
    assert set(one) == set(metric.outputs)
