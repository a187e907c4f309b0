"""Small image files of every kind, and the refusal that a bad one must meet."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from rpx_core.errors import ManifestError
from rpx_core.images import decode_depth, decode_labels, decode_rgb

GENERATOR = np.random.default_rng(0)
COLOUR = GENERATOR.integers(0, 256, (64, 60, 3), dtype=np.uint8)
GREY = COLOUR[..., 0]
OPAQUE = np.concatenate([COLOUR, np.full((64, 60, 1), 255, np.uint8)], axis=2)
DEEP = GENERATOR.integers(0, 2**16, (64, 60), dtype=np.uint16)
FLOAT = DEEP.astype(np.float32) / 1000

Decode = Callable[..., NDArray[Any]]
DECODERS: tuple[Decode, ...] = (decode_rgb, decode_depth, decode_labels)


def encode(pixels: NDArray[Any] | Image.Image, form: str, **options: Any) -> bytes:
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def raw_png(
    pixels: NDArray[Any], colour: int, bits: int, *, extra: bytes = b"", size: Any = None
) -> bytes:
    """A PNG of rows given as stored bytes, for the kinds that Pillow does not write."""
    height, width = size or pixels.shape[:2]
    rows = pixels.astype(">u2" if bits == 16 else np.uint8)
    scanlines = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            extra,
            chunk(b"IDAT", zlib.compress(scanlines)),
            chunk(b"IEND", b""),
        ]
    )


def repaired(png: bytes) -> bytes:
    """The same PNG with right chunk checksums, so that damage reaches the decoder."""
    data, offset = bytearray(png), 8
    while offset + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, offset)
        end = offset + 8 + length
        if end + 4 > len(data):
            break
        struct.pack_into(">I", data, end, zlib.crc32(data[offset + 4 : end]))
        offset = end + 4
    return bytes(data)


def refusal(decode: Decode, data: bytes) -> str:
    with pytest.raises(ManifestError) as caught:
        decode(data, name="a.png")
    message = str(caught.value)
    assert message.startswith("a.png: ")
    return message
