"""SSIM: reference numbers, the definition written out, and what holds for all images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.errors import MetricError
from rpx_nvs.structural_similarity import (
    UNIFORM_7,
    WANG,
    gaussian_window,
    similarity_map,
    ssim,
)

WINDOWS = [WANG, UNIFORM_7]
NAMES = [window.name for window in WINDOWS]

sides = st.integers(11, 40)
shapes = st.tuples(sides, sides) | st.tuples(sides, sides, st.just(3))


@st.composite
def pairs(draw):
    """Two images; pixels come from a seed, contrast and likeness are drawn."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(shapes)
    first = rng.integers(0, draw(st.sampled_from([1, 3, 256])), shape, np.uint8)
    return first, first ^ rng.integers(0, draw(st.sampled_from([1, 2, 256])), shape, np.uint8)


def written_out(first, second, window, data_range):
    """The formula at every place, by loops."""
    weights = np.outer(window.taps, window.taps)
    size = len(window.taps)
    scale = size**2 / (size**2 - 1) if window.unbiased else 1.0
    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    height, width = first.shape[0] - size + 1, first.shape[1] - size + 1
    found = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            place = (slice(row, row + size), slice(column, column + size))
            x, y = first[place].astype(np.float64), second[place].astype(np.float64)
            mx, my = (weights * x).sum(), (weights * y).sum()
            vx = scale * (weights * (x - mx) ** 2).sum()
            vy = scale * (weights * (y - my) ** 2).sum()
            cov = scale * (weights * (x - mx) * (y - my)).sum()
            found[row, column] = (2 * mx * my + c1) * (2 * cov + c2)
            found[row, column] /= (mx**2 + my**2 + c1) * (vx + vy + c2)
    return found


@pytest.mark.parametrize("window", WINDOWS, ids=NAMES)
# Both sides of the strips in which rows and columns are filtered.
@pytest.mark.parametrize("shape", [(11, 11), (12, 60), (60, 12), (42, 43), (43, 42), (44, 75)])
def test_every_place_has_the_value_of_the_definition(window, shape):
    rng = np.random.default_rng(shape[0])
    first, second = rng.integers(0, 256, (2, *shape), np.uint8)
    np.testing.assert_allclose(
        similarity_map(first, second, window, 255),
        written_out(first, second, window, 255),
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("name", ["noise", "scene", "1x1"])
def test_golden_values_of_images_mirrored_at_their_border(golden, name):
    case, images = golden(f"rgb_ssim/{name}")
    # The reference has a window at every pixel and repeats the edge at the border.
    reach = ((5, 5), (5, 5), (0, 0))
    padded = [np.pad(images[role], reach, mode="symmetric") for role in ("pred", "gt")]
    window = gaussian_window(case["params"]["window"], case["params"]["sigma"])
    assert ssim(*padded, window, 1.0) == pytest.approx(
        case["expected"], rel=case["rtol"], abs=case["atol"]
    )


@pytest.mark.parametrize("name", ["blurred", "noisy"])
def test_scikit_image_agrees(reference, name):
    numbers, images = reference
    pair = (images[name], images["truth"])
    assert ssim(*pair, WANG, 255) == pytest.approx(numbers[name]["ssim"], abs=1e-12)
    assert ssim(*pair, UNIFORM_7, 255) == pytest.approx(numbers[name]["ssim_uniform7"], abs=1e-12)


# RW-094: the constants need the data range.
@pytest.mark.parametrize(
    ("data_range", "expected"), [(1, 0.80009995), (2, 0.800399202), (255, 0.994032078)]
)
def test_the_data_range_is_what_the_caller_says(data_range, expected):
    flat = [np.full((16, 16), value) for value in (0.2, 0.4)]
    assert ssim(*flat, WANG, data_range) == pytest.approx(expected, abs=1e-6)


# RW-095: two windows, two numbers.
@pytest.mark.parametrize(("window", "expected"), [(WANG, 0.74269712), (UNIFORM_7, 0.828438941)])
def test_each_window_has_its_own_number(window, expected):
    rows, columns = np.mgrid[0:16, 0:16]
    truth = (16 * rows + columns) % 256
    prediction = np.clip(truth + 40 * ((rows + columns) % 2), 0, 255)
    assert ssim(prediction, truth, window, 255) == pytest.approx(expected, abs=1e-6)


# RW-096: sizes are named, the window is never shrunk, the last axis is colour.
@pytest.mark.parametrize(("window", "size"), [(WANG, "Gaussian 11x11"), (UNIFORM_7, "uniform 7x7")])
def test_an_image_smaller_than_the_window_is_refused_by_name(window, size):
    small = np.zeros((5, 5))
    with pytest.raises(MetricError, match=f"5x5 .* {size}"):
        ssim(small, small, window, 255)


def test_channels_are_averaged():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 256, (2, 37, 25, 3), np.uint8)
    per_channel = [ssim(first[..., c], second[..., c], WANG, 255) for c in range(3)]
    assert ssim(first, second, WANG, 255) == pytest.approx(np.mean(per_channel), abs=1e-14)


def test_images_of_different_sizes_are_refused():
    with pytest.raises(MetricError, match=r"\(20, 20\) and \(20, 21\)"):
        ssim(np.zeros((20, 20)), np.zeros((20, 21)), WANG, 255)


@pytest.mark.parametrize("window", WINDOWS, ids=NAMES)
@given(pair=pairs())
def test_similarity_is_bounded_symmetric_and_one_for_equal_images(window, pair):
    first, second = pair
    value = ssim(first, second, window, 255)
    assert -1 <= value <= 1
    assert ssim(second, first, window, 255) == pytest.approx(value, abs=1e-12)
    assert ssim(first, first, window, 255) == 1


@pytest.mark.parametrize("window", WINDOWS, ids=NAMES)
@given(pair=pairs())
def test_turning_both_images_changes_nothing(window, pair):
    value = ssim(*pair, window, 255)
    turned = [np.rot90(image).copy() for image in pair]
    flipped = [image[:, ::-1] for image in pair]
    assert ssim(*turned, window, 255) == pytest.approx(value, abs=1e-11)
    assert ssim(*flipped, window, 255) == pytest.approx(value, abs=1e-11)


@given(pair=pairs())
def test_the_unit_of_colours_does_not_matter(pair):
    value = ssim(*pair, WANG, 255)
    unit = [image / 255 for image in pair]
    assert ssim(*unit, WANG, 1.0) == pytest.approx(value, abs=1e-11)
