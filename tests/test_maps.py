"""Depth is metres and labels are the stored integers, or one error says why not."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from rpx_core.arrays import encode_npy
from rpx_core.errors import ManifestError
from rpx_core.images import decode_depth, decode_labels
from tests.image_files import (
    COLOUR,
    DEEP,
    FLOAT,
    GENERATOR,
    GREY,
    OPAQUE,
    encode,
    raw_png,
    refusal,
)


# RW-046: a 16-bit depth PNG keeps its 16 bits.
def test_depth_png_is_millimetres_and_zero_stays_a_hole() -> None:
    stored = np.array([[0, 500], [1500, 65535]], np.uint16)

    metres = decode_depth(encode(stored, "PNG"), name="a")

    assert metres.dtype == np.float32
    np.testing.assert_allclose(metres, [[0, 0.5], [1.5, 65.535]], rtol=1e-6)


def test_every_millimetre_is_the_nearest_float() -> None:
    stored = np.arange(2**16, dtype=np.uint16).reshape(256, 256)

    np.testing.assert_array_equal(
        decode_depth(encode(stored, "PNG"), name="a"), (stored / 1000).astype(np.float32)
    )


# RW-047: the scale is the dataset's to declare.
@pytest.mark.parametrize(("scale", "metres"), [(None, 1.5), (0.001, 1.5), (1 / 256, 5.859375)])
def test_declared_scale_makes_the_metres(scale: float | None, metres: float) -> None:
    stored = np.full((2, 2), 1500, np.uint16)

    for data in (encode(stored, "PNG"), encode(stored, "TIFF"), encode_npy(stored)):
        depth = decode_depth(data, name="a", scale=scale)
        np.testing.assert_allclose(depth, metres, rtol=1e-7)


@pytest.mark.parametrize("scale", [0, -0.001, float("nan"), float("inf"), "0.001", True, [1]])
def test_scale_that_is_no_scale_is_refused(scale: Any) -> None:
    with pytest.raises(ManifestError, match=r"a\.png: the depth scale"):
        decode_depth(encode(DEEP, "PNG"), name="a.png", scale=scale)


def stored_metres() -> list[bytes]:
    compressions = ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits")
    archive = io.BytesIO()
    np.savez_compressed(archive, depth=FLOAT)
    return [
        *(encode(FLOAT, "TIFF", compression=compression) for compression in compressions),
        encode_npy(FLOAT),
        encode_npy(FLOAT.astype(">f4")),
        encode_npy(np.asfortranarray(FLOAT)),
        archive.getvalue(),
    ]


@pytest.mark.parametrize("data", stored_metres())
def test_float_depth_is_metres(data: bytes) -> None:
    np.testing.assert_array_equal(decode_depth(data, name="a"), FLOAT)
    np.testing.assert_allclose(decode_depth(data, name="a", scale=0.5), FLOAT / 2, rtol=1e-7)


def test_wide_floats_become_single_precision_in_silence() -> None:
    stored = np.array([[np.nan, np.inf, 1e300], [-1.0, 0.1, 1e-300]])

    metres = decode_depth(encode_npy(stored), name="a")

    np.testing.assert_array_equal(
        metres, np.array([[np.nan, np.inf, np.inf], [-1.0, 0.1, 0]], np.float32)
    )


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (encode(GREY, "PNG"), "found 8-bit grey PNG"),
        (encode(COLOUR, "PNG"), "found 8-bit RGB PNG"),
        (encode(OPAQUE, "PNG"), "found 8-bit RGBA PNG"),
        (encode(COLOUR, "JPEG"), "found 8-bit RGB JPEG"),
        (encode(GREY, "WEBP"), "found 8-bit RGB WEBP"),
        (encode(GREY, "TIFF"), "found 8-bit grey TIFF"),
        (encode(DEEP.astype(np.int32), "TIFF"), "found 32-bit signed grey TIFF"),
        (raw_png(np.dstack([DEEP] * 2), 4, 16), "found 16-bit grey with alpha PNG"),
        (encode_npy(FLOAT[..., None]), "found float32 of shape (64, 60, 1)"),
        (encode_npy(FLOAT > 1), "found bool"),
        (encode_npy(FLOAT[:0]), "found float32 of shape (0, 60)"),
    ],
)
def test_what_is_no_depth_is_named_with_what_was_expected(data: bytes, found: str) -> None:
    message = refusal(decode_depth, data)

    assert found in message
    assert "expected 16-bit grey PNG" in message


@pytest.mark.parametrize(
    "data",
    [encode(DEEP, "PNG"), encode(DEEP, "TIFF"), encode_npy(DEEP), encode_npy(DEEP.astype(">i8"))],
)
def test_labels_above_255_stay_apart(data: bytes) -> None:
    labels = decode_labels(data, name="a")

    np.testing.assert_array_equal(labels, DEEP)
    assert labels.dtype == np.int32


def test_palette_labels_are_indices() -> None:
    indices = np.arange(12, dtype=np.uint8).reshape(3, 4)
    image = Image.fromarray(indices)
    image.putpalette(bytes(GENERATOR.integers(0, 256, 768, dtype=np.uint8)))

    for data in (encode(image, "PNG"), encode(image, "PNG", transparency=0), encode(image, "TIFF")):
        np.testing.assert_array_equal(decode_labels(data, name="a"), indices)


@pytest.mark.parametrize(("bits", "packed"), [(1, 0b01_10_0011), (2, 0b00_01_10_11), (4, 0x5A)])
def test_narrow_grey_labels_are_not_spread(bits: int, packed: int) -> None:
    data = raw_png(np.array([[packed]]), 0, bits, size=(1, 8 // bits))

    expected = [packed >> shift & (1 << bits) - 1 for shift in range(8 - bits, -1, -bits)]
    np.testing.assert_array_equal(decode_labels(data, name="a"), [expected])


@pytest.mark.parametrize(
    "data",
    [
        encode(COLOUR, "PNG"),
        encode(GREY, "JPEG"),
        encode(GREY, "WEBP", lossless=True),
        encode(FLOAT, "TIFF"),
        encode(Image.fromarray(GREY).convert("LA"), "PNG"),
        encode_npy(FLOAT),
        encode_npy(DEEP[None]),
    ],
)
def test_what_is_no_label_map_is_refused(data: bytes) -> None:
    assert "expected 8- or 16-bit grey or palette" in refusal(decode_labels, data)


def test_labels_beyond_32_bits_are_refused() -> None:
    for value in (2**31, -(2**31) - 1):
        assert "32 bits" in refusal(decode_labels, encode_npy(np.array([[value]])))
    limits = np.array([[-(2**31), 2**31 - 1]])
    np.testing.assert_array_equal(decode_labels(encode_npy(limits), name="a"), limits)


@pytest.mark.parametrize("pixels", [DEEP[:40], FLOAT[:40]])
def test_orientation_never_turns_depth_or_labels(pixels: NDArray[Any]) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encode(pixels, "TIFF", exif=exif)

    assert decode_depth(data, name="a").shape == (40, 60)
    if pixels.dtype == np.uint16:
        np.testing.assert_array_equal(decode_labels(data, name="a"), pixels)
