"""Pixels come out as stored, or one error says why not."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from PIL import Image

from rpx_core.images import decode_depth, decode_labels, decode_rgb, encode_png, lay_over
from tests.image_files import (
    COLOUR,
    DEEP,
    FLOAT,
    GREY,
    OPAQUE,
    chunk,
    encode,
    raw_png,
    refusal,
)


@pytest.mark.parametrize("form", ["PNG", "TIFF", "WEBP"])
def test_lossless_colour_is_exact(form: str) -> None:
    options = {"lossless": True} if form == "WEBP" else {}

    pixels = decode_rgb(encode(COLOUR, form, **options), name="a")

    np.testing.assert_array_equal(pixels, COLOUR)
    assert pixels.dtype == np.uint8
    assert pixels.flags.writeable
    assert pixels.flags.c_contiguous


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 2}])
def test_jpeg_is_what_pillow_decodes(options: dict[str, Any]) -> None:
    data = encode(COLOUR, "JPEG", **options)

    np.testing.assert_array_equal(
        decode_rgb(data, name="a"), np.asarray(Image.open(io.BytesIO(data)))
    )


# RW-129: what a file may be, and what "rgb" makes of it.
@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF"])
def test_grey_is_replicated(form: str) -> None:
    data = encode(GREY, form)
    stored = np.asarray(Image.open(io.BytesIO(data)))

    np.testing.assert_array_equal(decode_rgb(data, name="a"), np.dstack([stored] * 3))


def test_bilevel_is_black_and_white() -> None:
    data = encode(Image.fromarray(GREY > 127), "PNG")

    np.testing.assert_array_equal(decode_rgb(data, name="a")[..., 1], np.where(GREY > 127, 255, 0))


def test_palette_is_expanded() -> None:
    image = Image.fromarray(COLOUR).quantize(32)

    for form in ("PNG", "TIFF"):
        np.testing.assert_array_equal(
            decode_rgb(encode(image, form), name="a"), np.asarray(image.convert("RGB"))
        )


def test_sixteen_bit_colour_is_scaled_and_rounded() -> None:
    value = np.full((2, 3, 3), 32896, np.uint16)
    np.testing.assert_array_equal(decode_rgb(raw_png(value, 2, 16), name="a"), 128)

    ramp = np.arange(2**16, dtype=np.uint16).reshape(256, 256)
    expected = np.rint(ramp / 257)
    for channels, colour in ((3, 2), (4, 6)):
        deep = np.dstack([ramp] * 3 + [np.full_like(ramp, 65535)] * (channels - 3))
        pixels = decode_rgb(raw_png(deep, colour, 16), name="a")
        np.testing.assert_array_equal(pixels, np.dstack([expected] * 3))


@pytest.mark.parametrize("data", [encode(DEEP, "PNG"), encode(DEEP, "TIFF"), encode(FLOAT, "TIFF")])
def test_depth_map_is_not_a_colour_image(data: bytes) -> None:
    assert "looks like a depth map" in refusal(decode_rgb, data)


def test_opaque_alpha_is_dropped() -> None:
    for form in ("PNG", "TIFF"):
        np.testing.assert_array_equal(decode_rgb(encode(OPAQUE, form), name="a"), COLOUR)
    grey_alpha = Image.fromarray(GREY).convert("LA")
    np.testing.assert_array_equal(
        decode_rgb(encode(grey_alpha, "PNG"), name="a"), np.dstack([GREY] * 3)
    )


def see_through() -> list[bytes]:
    rgba = OPAQUE.copy()
    rgba[5, 6, 3] = 254
    deep = np.full((4, 4, 4), 65535, np.uint16)
    deep[1, 2, 3] = 0
    black = np.zeros((4, 4, 3), np.uint8)
    return [
        encode(rgba, "PNG"),
        encode(rgba, "TIFF"),
        encode(rgba, "WEBP", lossless=True),
        raw_png(deep, 6, 16),
        encode(Image.fromarray(GREY).quantize(8), "PNG", transparency=3),
        encode(black, "PNG", transparency=(0, 0, 0)),
        encode(black[..., 0], "PNG", transparency=0),
        raw_png(black, 2, 16, extra=chunk(b"tRNS", bytes(6))),
    ]


@pytest.mark.parametrize("data", see_through())
def test_transparency_asks_for_a_background(data: bytes) -> None:
    message = refusal(decode_rgb, data)

    assert "transparent" in message


# RW-098: dropping alpha would show colours that nobody meant to be seen.
def test_transparency_is_laid_over_the_background_that_is_declared() -> None:
    glass = np.full((2, 2, 4), (200, 0, 0, 128), np.uint8)
    for form in ("PNG", "TIFF"):
        pixels = decode_rgb(encode(glass, form), name="a", background=(255, 255, 255))
        np.testing.assert_array_equal(pixels, np.full((2, 2, 3), (227, 127, 127)))
    black = np.zeros((4, 4, 3), np.uint8)
    black[0, 0] = 9
    colour_key = encode(black, "PNG", transparency=(0, 0, 0))
    pixels = decode_rgb(colour_key, name="a", background=(1, 2, 3))
    assert (pixels[0, 0].tolist(), pixels[3, 3].tolist()) == ([9, 9, 9], [1, 2, 3])


def test_a_background_changes_no_opaque_image() -> None:
    for pixels in (COLOUR, OPAQUE):
        found = decode_rgb(encode(pixels, "PNG"), name="a", background=(7, 7, 7))
        np.testing.assert_array_equal(found, COLOUR)


@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(1, 4), st.integers(1, 4), st.just(4))),
    st.tuples(*[st.integers(0, 255)] * 3),
)
def test_laying_over_rounds_the_exact_mixture(
    rgba: NDArray[np.uint8], background: tuple[int, int, int]
) -> None:
    alpha = rgba[..., 3:] / 255
    exact = rgba[..., :3] * alpha + np.array(background) * (1 - alpha)
    assert np.abs(lay_over(rgba, background) - exact).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("form", ["JPEG", "TIFF"])
def test_print_colours_are_refused(form: str) -> None:
    message = refusal(decode_rgb, encode(Image.fromarray(COLOUR).convert("CMYK"), form))

    assert f"found 8-bit CMYK {form}" in message


# RW-128: one policy for images, depth and labels: pixels as stored.
@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_orientation_never_turns_a_picture(form: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encode(COLOUR[:40], form, exif=exif)
    assert Image.open(io.BytesIO(data)).getexif()[0x0112] == 6

    assert decode_rgb(data, name="a").shape == (40, 60, 3)


@given(
    hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9))
    | hnp.arrays(np.uint16, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9))
    | hnp.arrays(np.dtype(">u2"), (3, 4))
)
def test_written_labels_are_read_back(array: NDArray[Any]) -> None:
    np.testing.assert_array_equal(decode_labels(encode_png(array), name="a"), array)


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3))))
def test_written_colours_are_read_back(array: NDArray[np.uint8]) -> None:
    np.testing.assert_array_equal(decode_rgb(encode_png(array), name="a"), array)
    view = array[::-1, ::-1]
    np.testing.assert_array_equal(decode_rgb(encode_png(view), name="a"), view)


def test_written_depth_is_read_back_to_the_millimetre() -> None:
    np.testing.assert_array_equal(
        decode_depth(encode_png(DEEP), name="a"), (DEEP / 1000).astype(np.float32)
    )


@pytest.mark.parametrize(
    "array",
    [
        FLOAT,
        GREY.astype(np.int32),
        GREY > 1,
        OPAQUE,
        np.dstack([DEEP] * 3),
        GREY[0],
        GREY[:0],
        COLOUR[None],
    ],
)
def test_what_a_png_cannot_hold_is_refused(array: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match="a PNG holds"):
        encode_png(array)
