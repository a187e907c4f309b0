"""Colours between their forms: rounding, ranges, transparency, sizes."""

import numpy as np
import pytest

from rpx_core.errors import ModelError
from rpx_nvs.answers import check_colours, quantise
from rpx_nvs.colours import composite, resize_colours, to_levels, to_uint8, to_unit

GREY = np.full((2, 3, 3), 90, np.uint8)


def colours(*values, dtype=np.float64):
    """A 1-pixel-high image whose pixels are grey with these values."""
    return np.repeat(np.array(values, dtype)[None, :, None], 3, axis=2)


# RW-099: clamp, then round; never truncate or wrap.
def test_floats_are_clamped_and_rounded_to_8_bits():
    assert to_uint8(colours(-0.1, 0.5, 1.2))[0, :, 0].tolist() == [0, 128, 255]


def test_8_bit_colours_survive_the_way_through_floats():
    every = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    assert (to_uint8(to_unit(every)) == every).all()
    assert (to_uint8(to_unit(every).astype(np.float32)) == every).all()
    assert to_levels(every) is every
    np.testing.assert_allclose(to_levels(to_unit(every)), every, atol=1e-12)


# RW-098: transparency needs a background that somebody declared.
def test_alpha_is_laid_over_the_declared_background():
    rgba = np.array([[[200, 0, 0, 128]]], np.uint8)
    over = composite(rgba / 255, (255, 255, 255)) * 255
    np.testing.assert_allclose(over[0, 0], [227.392156863, 127.0, 127.0], rtol=1e-6)
    assert check_colours(rgba, (255, 255, 255)).tolist() == [[[227, 127, 127]]]
    with pytest.raises(ModelError, match="alpha channel") as refused:
        check_colours(rgba, None)
    assert "options.background" in str(refused.value)


def test_float_alpha_stays_float():
    rgba = np.array([[[0.5, 0.5, 0.5, 0.5]]])
    over = check_colours(rgba, (0, 0, 0))
    assert over.dtype == np.float32
    np.testing.assert_allclose(over, 0.25)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_become_float32(dtype):
    own = check_colours(colours(0.0, 0.25, 1.0, dtype=dtype), None)
    assert own.dtype == np.float32
    assert own[0, :, 0].tolist() == [0, 0.25, 1]


def test_what_was_checked_is_nobody_elses():
    own = check_colours(GREY, None)
    own[0, 0, 0] = 1
    assert GREY[0, 0, 0] == 90


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        (colours(-0.1, 0.5), "from -0.1 to 0.5", "clip"),
        (colours(0.0, 254.0), "from 0 to 254", "divide by 255"),
        (colours(0.5, np.nan), "NaN", None),
        (colours(0.5, np.inf), "infinity", None),
        (GREY.astype(np.int32), "int32", "uint8"),
        (GREY > 0, "bool", "uint8"),
        (GREY[..., 0], r"\(2, 3\)", None),
        (GREY[..., :2], r"\(2, 3, 2\)", None),
        (GREY.transpose(2, 0, 1)[..., :2], r"\(3, 2, 2\)", "channels come last"),
        (GREY[:0], r"\(0, 3, 3\)", None),
        ([[1, 2, 3]], "list", "numpy"),
        (None, "is None", "numpy"),
    ],
)
def test_what_is_no_image_is_refused(answer, message, hint):
    with pytest.raises(ModelError, match=message) as refused:
        check_colours(answer, None)
    assert hint is None or hint in str(refused.value)


def test_rounding_beyond_the_range_is_no_error():
    own = check_colours(colours(-1e-9, 1 + 1e-7), None)
    assert own[0, :, 0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (colours(-0.1, 0.5, 1.2), [0, 128, 255]),
        (colours(-3, 100, 300, dtype=np.int64), [0, 100, 255]),
        (colours(-3.0, 0.5, 99.5, 200.4, 300.0), [0, 1, 100, 200, 255]),
        (colours(3, 100, dtype=np.uint16), [3, 100]),
        (colours(3, 100, dtype=np.uint8), [3, 100]),
    ],
)
def test_answers_of_functions_are_clipped_and_rounded(answer, expected):
    eight = quantise(answer)
    assert eight.dtype == np.uint8
    assert eight[0, :, 0].tolist() == expected


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (colours(0.0, 700.0), "from 0.0 to 700.0"),
        (colours(-1.5, 0.5), "from -1.5 to 0.5"),
        (colours(0.5, np.inf), "from 0.5 to inf"),
        (colours(0.5, np.nan), "NaN"),
        (colours(0, 60000, dtype=np.uint16), "from 0 to 60000"),
        (GREY > 0, "bool"),
        (GREY[..., 0], r"\(2, 3\)"),
        (np.zeros((2, 2, 4), np.uint8), r"\(2, 2, 4\)"),
    ],
)
def test_answers_in_another_unit_are_refused_not_clipped(answer, message):
    with pytest.raises(ModelError, match=message):
        quantise(answer)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_resizing_keeps_flat_colours_and_dtype(dtype):
    flat = np.full((6, 8, 3), 1 if dtype is np.uint8 else 0.25, dtype)
    resized = resize_colours(flat, (9, 4))
    assert resized.shape == (9, 4, 3)
    assert resized.dtype == dtype
    np.testing.assert_allclose(resized, flat[0, 0, 0])
    assert resize_colours(flat, (6, 8)) is flat


def test_shrinking_averages():
    checker = np.indices((8, 8)).sum(axis=0) % 2
    image = (checker * 255).astype(np.uint8)[..., None].repeat(3, axis=2)
    inner = resize_colours(image, (4, 4))[1:-1, 1:-1].astype(float)
    assert abs(inner - 127.5).max() <= 30
