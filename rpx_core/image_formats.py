"""What an encoded image declares about itself, read before any decoder sees it.

Decoders allocate what a header asks for, repair what is cut off, turn pictures by their metadata
and warn on stderr. So the four accepted containers are walked here first: the size is known before
memory is taken, missing bytes are found whatever switches another package has set, and only what
the pixels need is handed on: no EXIF, colour profile, text or thumbnail.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from rpx_core.errors import ManifestError

MAX_PIXELS = 64 * 2**20
"""Pixels of the largest image that is decoded."""

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
_PNG_COLOURS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey with alpha", 6: "RGBA"}
_PNG_PIXEL_CHUNKS = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"})

_JPEG_COLOURS = {1: "grey", 3: "RGB", 4: "CMYK"}
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# JFIF and Adobe segments say how colours are coded; the other APPn and comments say nothing of it.
_JPEG_METADATA = frozenset({*range(0xE1, 0xF0), 0xFE}) - {0xEE}

_TIFF_SCALARS = frozenset({256, 257, 259, 262, 266, 277, 278, 284, 317, 322, 323})
_TIFF_LISTS = frozenset({258, 273, 279, 320, 324, 325, 338, 339})
_TIFF_INTEGERS = {3: "H", 4: "I"}
_TIFF_COMPRESSIONS = frozenset({1, 5, 8, 32773, 32946})
_TIFF_COLOURS = {
    (0, 1): "white-is-zero grey",
    (1, 1): "grey",
    (1, 2): "grey with alpha",
    (2, 3): "RGB",
    (2, 4): "RGBA",
    (3, 1): "palette",
    (5, 4): "CMYK",
}
_MAX_TIFF_STRIPS = 2**18


@dataclass(frozen=True)
class EncodedImage:
    """An image still encoded: what its header declares, and the bytes that make its pixels.

    `colour` is in words ("grey", "float grey", "RGB", ...), `bits` counts one channel's.
    """

    format: str
    width: int
    height: int
    colour: str
    bits: int
    content: bytes

    def __str__(self) -> str:
        return f"{self.bits}-bit {self.colour} {self.format}"


def read_image_header(data: bytes, *, name: str) -> EncodedImage:
    """Read a PNG, JPEG, WEBP or TIFF by its content, never by its name.

    Raises `ManifestError` naming `name` for other formats, several frames, missing bytes, and
    images of more than `MAX_PIXELS`.
    """
    walk = _walker(data)
    if walk is None:
        raise ManifestError(f"{name}: is not an image; expected PNG, JPEG, WEBP or TIFF content")
    try:
        image = walk(data)
    except struct.error as problem:
        raise _damaged(name, "its data is truncated") from problem
    except ValueError as problem:
        raise _damaged(name, str(problem)) from problem
    if not 0 < image.width * image.height <= MAX_PIXELS:
        raise ManifestError(
            f"{name}: declares {image.width} x {image.height} pixels; "
            f"between 1 and {MAX_PIXELS} pixels are decoded",
            hint="replace the file if it is damaged, else tile or shrink the image",
        )
    return image


def is_image(data: bytes) -> bool:
    """Whether the content starts as one of the formats that are read."""
    return _walker(data) is not None


def is_tiff(data: bytes) -> bool:
    """Whether the content starts as a classic TIFF file."""
    return data.startswith((b"II*\0", b"MM\0*"))


def _walker(data: bytes) -> Callable[[bytes], EncodedImage] | None:
    """What reads the header of content that starts so; None for other formats."""
    if data.startswith(PNG_MAGIC):
        return _walk_png
    if data.startswith(b"\xff\xd8\xff"):
        return _walk_jpeg
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _walk_webp
    return _walk_tiff if is_tiff(data) else None


def _damaged(name: str, problem: str) -> ManifestError:
    return ManifestError(
        f"{name}: the image cannot be used: {problem}",
        hint="fetch or export the file again, as one PNG, JPEG, WEBP or TIFF picture",
    )


def _walk_png(data: bytes) -> EncodedImage:
    view = memoryview(data)
    kept = [view[:8]]
    kind, offset = b"", 8
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, offset)
        end = offset + 12 + length
        if kind in _PNG_PIXEL_CHUNKS:
            (declared,) = struct.unpack_from(">I", data, end - 4)
            if zlib.crc32(view[offset + 4 : end - 4]) != declared:
                raise ValueError(f"the checksum of its {kind.decode()} chunk is wrong")
            kept.append(view[offset:end])
        elif kind == b"acTL":
            raise ValueError("it holds several frames")
        offset = end
    width, height, bits, colour = struct.unpack_from(">IIBB", data, 16)
    if data[12:16] != b"IHDR" or colour not in _PNG_COLOURS:
        raise ValueError("its header is wrong")
    content = data if sum(map(len, kept)) == len(data) else b"".join(kept)
    return EncodedImage("PNG", width, height, _PNG_COLOURS[colour], bits, content)


def _walk_jpeg(data: bytes) -> EncodedImage:
    view = memoryview(data)
    kept = [view[:2]]
    frame = None
    offset = 2
    while True:
        prefix, marker, length = struct.unpack_from(">BBH", data, offset)
        if prefix != 0xFF:
            raise ValueError("a segment does not start where it should")
        if marker == 0xFF:  # padding
            offset += 1
            continue
        if marker == 0xDA:
            break
        if length < 2 or 0xD0 <= marker <= 0xD9:
            raise ValueError("its segments are out of order")
        if marker == 0xE2 and data.startswith(b"MPF\0", offset + 4):
            raise ValueError("it holds several pictures")
        if marker in _JPEG_FRAMES:
            frame = struct.unpack_from(">BHHB", data, offset + 4)
        if marker not in _JPEG_METADATA:
            kept.append(view[offset : offset + 2 + length])
        offset += 2 + length
    if frame is None or frame[3] not in _JPEG_COLOURS:
        raise ValueError("its frame header is missing or unknown")
    # Coded data stuffs every 0xFF, so an end marker cannot occur in it by chance.
    end = data.rfind(b"\xff\xd9", offset)
    if end < 0:
        raise ValueError("its data is truncated")
    kept.append(view[offset : end + 2])
    bits, height, width, channels = frame
    return EncodedImage("JPEG", width, height, _JPEG_COLOURS[channels], bits, b"".join(kept))


def _walk_webp(data: bytes) -> EncodedImage:
    (size,) = struct.unpack_from("<I", data, 4)
    if size + 8 > len(data):
        raise ValueError("its data is truncated")
    kind, head = data[12:16], data[20:30]
    colour = "RGB"
    if kind == b"VP8X":
        if head[0] & 0x02:
            raise ValueError("it holds several frames")
        colour = "RGBA" if head[0] & 0x10 else "RGB"
        width = 1 + int.from_bytes(head[4:7], "little")
        height = 1 + int.from_bytes(head[7:10], "little")
    elif kind == b"VP8L":
        (packed,) = struct.unpack_from("<I", head, 1)
        width, height = 1 + (packed & 0x3FFF), 1 + (packed >> 14 & 0x3FFF)
        colour = "RGBA" if packed >> 28 & 1 else "RGB"
    elif kind == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", head, 6))
    else:
        raise ValueError("its first chunk is unknown")
    return EncodedImage("WEBP", width, height, colour, 8, data[: size + 8])


def _walk_tiff(data: bytes) -> EncodedImage:
    order = "<" if data.startswith(b"II") else ">"
    (first,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, first)
    (following,) = struct.unpack_from(f"{order}I", data, first + 2 + 12 * count)
    if following:
        raise ValueError("it holds several pictures")
    tags: dict[int, tuple[int, ...]] = {}
    kept = []
    for offset in range(first + 2, first + 2 + 12 * count, 12):
        (tag,) = struct.unpack_from(f"{order}H", data, offset)
        if tag in _TIFF_SCALARS or tag in _TIFF_LISTS:
            tags[tag] = _read_tiff_tag(data, offset, order)
            kept.append(data[offset : offset + 12])
    _check_tiff(tags, len(data))
    content = data
    if len(kept) != count:
        directory = struct.pack(f"{order}H", len(kept)) + b"".join(kept) + bytes(4)
        padding = bytes(len(data) % 2)
        start = struct.pack(f"{order}I", len(data) + len(padding))
        content = data[:4] + start + data[8:] + padding + directory
    colour = _name_tiff_colour(tags)
    return EncodedImage("TIFF", tags[256][0], tags[257][0], colour, max(tags[258]), content)


def _read_tiff_tag(data: bytes, offset: int, order: str) -> tuple[int, ...]:
    tag, kind, count = struct.unpack_from(f"{order}HHI", data, offset)
    if kind not in _TIFF_INTEGERS or count == 0 or (count != 1 and tag in _TIFF_SCALARS):
        raise ValueError(f"its tag {tag} is malformed")
    form = f"{order}{count}{_TIFF_INTEGERS[kind]}"
    if struct.calcsize(form) <= 4:
        return struct.unpack_from(form, data, offset + 8)
    (elsewhere,) = struct.unpack_from(f"{order}I", data, offset + 8)
    return struct.unpack_from(form, data, elsewhere)


def _check_tiff(tags: dict[int, tuple[int, ...]], size: int) -> None:
    tags.setdefault(258, (1,))
    offsets, lengths = (tags.get(strip) or tags.get(tile, ()) for strip, tile in _TIFF_PLACES)
    if 256 not in tags or 257 not in tags or not offsets or len(offsets) != len(lengths):
        raise ValueError("its directory is incomplete")
    if len(offsets) > _MAX_TIFF_STRIPS:
        raise ValueError(f"it has {len(offsets)} strips; at most {_MAX_TIFF_STRIPS} are read")
    if max(start + length for start, length in zip(offsets, lengths, strict=True)) > size:
        raise ValueError("its data is truncated")
    compression = tags.get(259, (1,))[0]
    if compression not in _TIFF_COMPRESSIONS:
        raise ValueError(
            f"its compression {compression} is unknown; expected none, LZW, Deflate or PackBits"
        )


_TIFF_PLACES = ((273, 324), (279, 325))


def _name_tiff_colour(tags: dict[int, tuple[int, ...]]) -> str:
    photometric, samples = tags.get(262, (0,))[0], tags.get(277, (1,))[0]
    colour = _TIFF_COLOURS.get((photometric, samples), f"{samples}-channel")
    kinds = set(tags.get(339, (1,)))
    if kinds == {1}:
        return colour
    return f"float {colour}" if kinds == {3} else f"signed {colour}"
