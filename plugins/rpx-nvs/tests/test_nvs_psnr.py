"""PSNR: its two rules, the golden values, pooling, infinite values, and the split by visibility."""

import math

import numpy as np
import pytest

from rpx_core.contracts import Undefined
from rpx_core.measure import evaluate
from rpx_core.state import fold
from rpx_nvs.colours import LEVELS
from rpx_nvs.metrics.psnr import ErrorSums, Psnr
from rpx_nvs.squared_error import psnr, squared_errors, squared_errors_8bit
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction
from rpx_nvs.visibility import HIDDEN, SEEN, UNKNOWN

METRIC = Psnr()
SHAPE = (4, 5, 3)


def measure(prediction, truth, **known):
    target = NovelViewSynthesisGroundTruth(truth, **known)
    return METRIC.measure(None, target, NovelViewSynthesisPrediction(prediction))


def values(prediction, truth, **known):
    return METRIC.result(measure(prediction, truth, **known))


def state_of(mean_squared_errors):
    """The fold of whole images of 100 values each with these errors, colours from 0 to 1."""
    return [
        ErrorSums(
            images=1,
            values=np.array([100, 0, 0]),
            squared=np.array([100 * mse * 255**2, 0, 0]),
            squared_8bit=round(100 * mse * 255**2),
            equal=np.array([mse == 0, 0, 0, mse == 0], np.int64),
        )
        for mse in mean_squared_errors
    ]


@pytest.mark.parametrize("name", ["noise", "scene", "black_white", "1x1"])
def test_golden_values_of_float_images(golden, name):
    case, images = golden(f"rgb_psnr/{name}")
    error = squared_errors(images["pred"], images["gt"]).sum() / images["gt"].size
    # The reference sums in float32.
    assert psnr(error, LEVELS) == pytest.approx(case["expected"], rel=case["rtol"], abs=1e-6)


def test_golden_value_of_a_masked_image(golden):
    case, images = golden("rgb_psnr_masked")
    chosen = squared_errors(images["pred"], images["gt"])[images["mask"]]
    error = chosen.sum() / (3 * chosen.size)
    assert psnr(error, LEVELS) == pytest.approx(case["expected"]["value"], rel=case["rtol"])


@pytest.mark.parametrize("name", ["blurred", "noisy"])
def test_scikit_image_agrees(reference, name):
    numbers, images = reference
    found = values(images[name], images["truth"])
    assert found["psnr"] == pytest.approx(numbers[name]["psnr"], abs=1e-9)
    assert found["psnr_8bit"] == pytest.approx(numbers[name]["psnr"], abs=1e-9)


# RW-091: infinite is a value of its own, left out of means, and pools as no error.
def test_equal_images_are_infinite_and_pool_as_no_error():
    equal, off = state_of([0.0, 0.01])
    found = evaluate(METRIC, equal)
    assert found.values["psnr"] is None
    assert found.infinite == ("psnr", "psnr_8bit")
    assert METRIC.result(off)["psnr"] == pytest.approx(20.0)
    assert METRIC.result(fold([equal, off]))["psnr"] == pytest.approx(23.010299957, abs=1e-6)


def test_a_mean_that_leaves_perfect_images_out_says_so():
    equal, off = state_of([0.0, 0.01])
    assert METRIC.doubt(fold([off, off])) is None
    assert METRIC.doubt(fold([equal, equal])) is None
    assert METRIC.doubt(fold([equal, off, off])) == (
        "of 3 images, perfect ones are left out of means (1 from psnr@sample, "
        "1 from psnr_8bit@sample): compare @pooled"
    )


# RW-092: the mean of decibels is one aggregate, the decibels of the mean error another.
def test_mean_of_psnr_is_not_psnr_of_mean_error():
    states = state_of([0.01, 0.0001])
    each = [METRIC.result(state)["psnr"] for state in states]
    assert np.mean(each) == pytest.approx(30.0, abs=1e-6)
    assert METRIC.result(fold(states))["psnr"] == pytest.approx(22.967086219, abs=1e-6)


# RW-093: the peak is 1 for floats, whatever the largest pixel.
def test_peak_is_not_taken_from_the_pixels():
    truth = np.full(SHAPE, 0.9)
    error = squared_errors(truth - 0.1, truth).sum() / truth.size
    assert psnr(error, LEVELS) == pytest.approx(20.0, abs=1e-6)


def test_float_rule_keeps_what_the_8_bit_rule_rounds_away():
    truth = np.full(SHAPE, 100, np.uint8)
    found = values((truth / 255 + 0.001).astype(np.float32), truth)
    assert found["psnr"] == pytest.approx(60.0, abs=1e-3)
    assert math.isinf(found["psnr_8bit"])


def test_extreme_colours_do_not_wrap():
    black, white = np.zeros(SHAPE, np.uint8), np.full(SHAPE, 255, np.uint8)
    assert squared_errors_8bit(black, white).sum() == black.size * 255**2
    assert values(black, white)["psnr"] == pytest.approx(0)
    assert values(white, black)["psnr_8bit"] == pytest.approx(0)


def test_only_scored_pixels_count():
    truth = np.full(SHAPE, 100, np.uint8)
    prediction = truth.copy()
    prediction[0] = 0
    scored = np.ones(SHAPE[:2], np.bool_)
    scored[0] = False
    assert math.isinf(values(prediction, truth, scored=scored)["psnr"])
    assert values(prediction, truth, scored=~scored)["psnr"] == pytest.approx(
        20 * math.log10(255 / 100)
    )
    nothing = np.zeros(SHAPE[:2], np.bool_)
    assert measure(prediction, truth, scored=nothing) == Undefined("no pixel is scored")


def test_seen_and_hidden_pixels_are_told_apart():
    truth = np.full(SHAPE, 100, np.uint8)
    prediction = truth.copy()
    prediction[1], prediction[2], prediction[3] = 90, 50, 255
    seen = np.full(SHAPE[:2], UNKNOWN, np.uint8)
    seen[1], seen[2] = SEEN, HIDDEN
    found = values(prediction, truth, seen=seen)
    assert found["psnr_covered"] == pytest.approx(20 * math.log10(255 / 10))
    assert found["psnr_disoccluded"] == pytest.approx(20 * math.log10(255 / 50))
    assert found["covered_share"] == 0.5


def test_split_is_undefined_without_visibility_or_pixels():
    truth = np.full(SHAPE, 100, np.uint8)
    blind = values(truth, truth)
    unknown = Undefined("what the sources see is not known")
    assert (blind["psnr_covered"], blind["covered_share"]) == (unknown, unknown)
    everything_seen = values(truth, truth, seen=np.full(SHAPE[:2], SEEN, np.uint8))
    assert everything_seen["psnr_disoccluded"] == Undefined("the region has no pixel")
    assert everything_seen["covered_share"] == 1
