"""MS-SSIM: reference numbers, the definition written out, and what holds for all images."""

import numpy as np
import pytest

from rpx_core.errors import MetricError
from rpx_nvs.scales import WEIGHTS, multi_scale_ssim
from rpx_nvs.structural_similarity import WANG, similarity_strips, ssim


@pytest.mark.parametrize("name", ["blurred", "noisy"])
def test_torchmetrics_agrees(reference, name):
    numbers, images = reference
    found = multi_scale_ssim(images[name], images["truth"], 255)
    assert found.mirrored == pytest.approx(numbers[name]["ms_ssim_mirrored"], abs=1e-5)


def test_value_is_that_of_the_definition(reference):
    _, images = reference
    first, second = (images[name][..., 0].astype(np.float64) for name in ("noisy", "truth"))
    product = 1.0
    for weight in WEIGHTS[:-1]:
        contrast = [strip.contrast.copy() for strip in similarity_strips(first, second, WANG, 255)]
        product *= np.concatenate(contrast).mean() ** weight
        height, width = first.shape[0] // 2, first.shape[1] // 2
        first, second = (
            image[: 2 * height, : 2 * width].reshape(height, 2, width, 2).mean(axis=(1, 3))
            for image in (first, second)
        )
    product *= ssim(first, second, WANG, 255) ** WEIGHTS[-1]
    plane = [images[name][..., 0] for name in ("noisy", "truth")]
    assert multi_scale_ssim(*plane, 255).inside == pytest.approx(product, abs=1e-12)


def test_equal_images_are_one_and_the_two_conventions_close(reference):
    _, images = reference
    same = multi_scale_ssim(images["truth"], images["truth"], 255)
    assert (same.inside, same.mirrored) == (1, 1)
    noisy = multi_scale_ssim(images["noisy"], images["truth"], 255)
    assert noisy.inside == pytest.approx(noisy.mirrored, abs=0.01)
    assert noisy.inside != noisy.mirrored


def test_more_noise_is_less_similar(reference):
    _, images = reference
    truth = images["truth"].astype(np.float64)
    noise = np.random.default_rng(3).normal(0, 1, truth.shape)
    values = [multi_scale_ssim(truth + s * noise, truth, 255).inside for s in (2, 8, 20, 60)]
    assert values == sorted(values, reverse=True)


def test_opposite_contrast_is_zero_not_negative():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 256, (176, 176), np.uint8)
    assert multi_scale_ssim(255 - truth, truth, 255).inside == 0


def test_an_image_too_small_for_five_scales_is_refused():
    image = np.zeros((175, 300), np.uint8)
    with pytest.raises(MetricError, match="175x300") as refused:
        multi_scale_ssim(image, image, 255)
    assert "176x176" in str(refused.value)
