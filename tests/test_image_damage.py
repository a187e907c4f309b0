"""Hostile, cut and foreign image files are one error, before memory is taken."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

from rpx_core.arrays import encode_npy
from rpx_core.errors import ManifestError
from rpx_core.image_formats import MAX_PIXELS, read_image_header
from rpx_core.images import decode_depth, decode_labels, decode_rgb
from tests.image_files import (
    COLOUR,
    DECODERS,
    DEEP,
    FLOAT,
    GREY,
    OPAQUE,
    Decode,
    chunk,
    encode,
    raw_png,
    refusal,
    repaired,
)


# RW-127: a cut file is an error, whatever switch another package has set.
@pytest.mark.parametrize("tolerant", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize(
    ("decode", "whole"),
    [
        (decode_rgb, encode(COLOUR, "PNG")),
        (decode_rgb, encode(COLOUR, "JPEG")),
        (decode_rgb, encode(COLOUR, "JPEG", progressive=True)),
        (decode_rgb, encode(COLOUR, "WEBP")),
        (decode_rgb, encode(COLOUR, "TIFF")),
        (decode_depth, encode(DEEP, "PNG")),
        (decode_depth, encode(FLOAT, "TIFF")),
        (decode_labels, encode(DEEP, "PNG")),
    ],
)
def test_cut_file_is_an_error(
    decode: Decode, whole: bytes, share: float, tolerant: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", tolerant)

    refusal(decode, whole[: int(len(whole) * share)])


def test_our_decoders_never_set_the_switch() -> None:
    for decode in DECODERS:
        with suppress(ManifestError):
            decode(encode(GREY, "PNG"), name="a")

    assert ImageFile.LOAD_TRUNCATED_IMAGES is False


def test_changed_bit_of_a_png_is_found() -> None:
    whole = bytearray(encode(DEEP, "PNG"))
    for position in range(33, len(whole) - 12, 97):
        whole[position] ^= 1
        refusal(decode_depth, bytes(whole))
        whole[position] ^= 1


def with_tiff_size(tiff: bytes, side: int) -> bytes:
    data = bytearray(tiff)
    (directory,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, directory)
    for entry in range(directory + 2, directory + 2 + 12 * count, 12):
        (tag,) = struct.unpack_from("<H", data, entry)
        if tag in (256, 257):
            struct.pack_into("<HHII", data, entry, tag, 4, 1, side)
    return bytes(data)


def with_jpeg_size(jpeg: bytes, side: int) -> bytes:
    data = bytearray(jpeg)
    struct.pack_into(">HH", data, data.index(b"\xff\xc0") + 5, side, side)
    return bytes(data)


def webp_canvas(side: int) -> bytes:
    canvas = bytes(4) + 2 * (side - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", len(canvas)) + canvas
    return b"RIFF" + struct.pack("<I", len(body)) + body


def huge() -> list[bytes]:
    return [
        raw_png(GREY, 0, 8, size=(100_000, 100_000)),
        raw_png(GREY, 0, 8, size=(1, MAX_PIXELS + 1)),
        with_jpeg_size(encode(GREY, "JPEG"), 65_535),
        with_tiff_size(encode(GREY, "TIFF"), 100_000),
        webp_canvas(100_000),
    ]


@pytest.mark.parametrize("data", huge())
def test_huge_image_is_refused_from_its_header(data: bytes) -> None:
    tracemalloc.start()

    for decode in DECODERS:
        assert "pixels are decoded" in refusal(decode, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_largest_image_needs_no_warning() -> None:
    side = 8192
    assert side * side == MAX_PIXELS

    header = read_image_header(encode(Image.new("L", (side, side)), "PNG"), name="a")

    assert (header.width, header.height) == (side, side)


def animations() -> list[bytes]:
    first, second = Image.fromarray(COLOUR), Image.fromarray(COLOUR[::-1])
    return [
        encode(first, form, save_all=True, append_images=[second])
        for form in ("PNG", "WEBP", "TIFF", "MPO")
    ]


@pytest.mark.parametrize("data", animations())
def test_several_frames_are_refused(data: bytes) -> None:
    assert "several" in refusal(decode_rgb, data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"RIFF\0\0\0\0WEBP",
        b"II*\0",
        b"GIF89a",
        b"version https://git-lfs.github.com/spec/v1\n",
        encode(COLOUR, "GIF"),
        encode(COLOUR, "BMP"),
        encode(COLOUR, "PPM"),
        encode(Image.fromarray(COLOUR), "PDF"),
        encode(COLOUR, "TIFF", compression="jpeg"),
    ],
)
def test_other_content_is_refused_whatever_its_name(data: bytes) -> None:
    for decode in DECODERS:
        refusal(decode, data)


def test_content_decides_not_the_name() -> None:
    assert decode_rgb(encode(COLOUR, "JPEG"), name="really.png").shape == COLOUR.shape
    np.testing.assert_array_equal(decode_depth(encode_npy(FLOAT), name="depth.png"), FLOAT)


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_metadata_never_reaches_the_decoder(form: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    data = encode(COLOUR, form, exif=exif)
    assert b"secret place" in data

    content = read_image_header(data, name="a").content
    assert b"secret place" not in content
    np.testing.assert_array_equal(
        np.asarray(Image.open(io.BytesIO(content))), np.asarray(Image.open(io.BytesIO(data)))
    )


def test_text_that_inflates_without_end_does_not_matter() -> None:
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(10**8), 9))

    np.testing.assert_array_equal(decode_rgb(raw_png(COLOUR, 2, 8, extra=bomb), name="a"), COLOUR)


SEEDS = [
    encode(GREY, "PNG"),
    encode(DEEP, "PNG"),
    encode(COLOUR, "PNG", transparency=(1, 2, 3)),
    encode(Image.fromarray(COLOUR).quantize(16), "PNG", transparency=3),
    raw_png(np.dstack([DEEP] * 3), 2, 16),
    encode(COLOUR, "JPEG"),
    encode(GREY, "JPEG", progressive=True),
    encode(COLOUR, "WEBP"),
    encode(OPAQUE, "WEBP", lossless=True),
    encode(FLOAT, "TIFF"),
    encode(DEEP, "TIFF"),
    encode(OPAQUE, "TIFF"),
]


@given(st.data())
def test_damaged_image_is_pixels_or_one_error(data: st.DataObject) -> None:
    # Warnings are errors here; that nothing else escapes is the assertion.
    whole = bytearray(data.draw(st.sampled_from(SEEDS)))
    for _ in range(data.draw(st.integers(1, 4))):
        # Headers lie in front, a TIFF's directory behind.
        reach = data.draw(st.sampled_from([40, 200, len(whole), -200]))
        position = data.draw(st.integers(min(0, reach), max(0, reach) - 1)) % len(whole)
        whole[position] = data.draw(st.sampled_from([0, 1, 127, 128, 255]) | st.integers(0, 255))
    damaged = bytes(whole[: data.draw(st.sampled_from([len(whole), len(whole) - 7, 50]))])
    if damaged.startswith(b"\x89PNG"):
        damaged = repaired(damaged)

    for decode in DECODERS:
        with suppress(ManifestError):
            decode(damaged, name="a")


@pytest.mark.parametrize("data", [seed for seed in SEEDS if not seed.startswith(b"II")])
def test_damage_prints_nothing(data: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    for position in range(0, len(data), max(1, len(data) // 40)):
        damaged = bytearray(data)
        damaged[position] ^= 0x55
        for decode in DECODERS:
            with suppress(ManifestError):
                decode(repaired(bytes(damaged)), name="a")

    assert capfd.readouterr() == ("", "")
