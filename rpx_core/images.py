"""Pictures, depth maps and label maps from untrusted bytes, and back to PNG.

Pixels are taken as the sensor stored them: an EXIF orientation never turns an image, for colour,
depth and labels alike, so boxes and intrinsics keep meaning the stored grid. Values are never
rescaled in silence: what does not fit the contract is one `ManifestError` that names the file,
what it is and what was expected.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from rpx_core.arrays import is_array_file, load_array
from rpx_core.errors import ManifestError
from rpx_core.files import quote
from rpx_core.image_formats import EncodedImage, read_image_header
from rpx_core.magnitudes import is_finite_number

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageFile import ImageFile

Colour = tuple[int, int, int]
"""Red, green and blue, each 0 to 255."""

MILLIMETRE = 0.001
"""Metres per unit of integer depth, unless the dataset says otherwise."""

# Saved predictions are written between two samples: level 6 is 5 to 7 times slower for 7 % less.
_COMPRESSION = 1
_PICTURES = ("grey", "white-is-zero grey", "grey with alpha", "palette", "RGB", "RGBA")
_DEPTH_EXPECTED = "16-bit grey PNG or TIFF, float TIFF, or a 2-D numeric .npy"
_LABELS_EXPECTED = "8- or 16-bit grey or palette PNG or TIFF, or a 2-D integer .npy"
_LABEL_BITS = {
    ("PNG", "grey"): (1, 2, 4, 8, 16),
    ("PNG", "palette"): (1, 2, 4, 8),
    ("TIFF", "grey"): (8, 16),
    ("TIFF", "palette"): (8,),
}

# What Pillow's decoders raise on damaged data, found by fuzzing them.
_DECODER_FAILURES = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    LookupError,
    EOFError,
    MemoryError,
    RuntimeError,
    struct.error,
    zlib.error,
)


def decode_rgb(data: bytes, *, name: str, background: Colour | None = None) -> NDArray[np.uint8]:
    """A colour image (H, W, 3), from PNG, JPEG, WEBP or TIFF, told apart by content.

    Grey is replicated, a palette expanded, a 16-bit PNG scaled by 1/257 and rounded. An alpha
    channel is dropped when it is opaque everywhere; else the picture is laid over `background`,
    and has no defined colours without one.
    """
    image = read_image_header(data, name=name)
    if image.bits > 8 and image.colour.endswith("grey"):
        raise _unexpected(name, image, "a colour image", hint="it looks like a depth map")
    if image.bits == 16 and image.format == "PNG" and image.colour in ("RGB", "RGBA"):
        pixels = _decode_deep_png(image, name)
    elif image.bits <= 8 and image.colour in _PICTURES:
        pixels = _expand(_decode(image, name), image, name)
    else:
        raise _unexpected(name, image, "8-bit RGB, grey or palette, or 16-bit RGB PNG")
    if pixels.shape[2] == 3:
        return pixels
    if pixels[..., 3].min() == 255:
        return np.ascontiguousarray(pixels[..., :3])
    if background is None:
        raise ManifestError(
            f"{name}: has transparent pixels, whose colour is undefined",
            hint="flatten the image on the background that is meant, and save it without alpha; "
            "view synthesis takes --set options.background='[255,255,255]'",
        )
    return lay_over(pixels, background)


def lay_over(rgba: NDArray[np.uint8], background: Colour) -> NDArray[np.uint8]:
    """An image with alpha (H, W, 4), straight and not premultiplied, over a background, rounded."""
    alpha = rgba[..., 3:].astype(np.uint32)
    total = rgba[..., :3] * alpha + np.array(background, np.uint32) * (255 - alpha)
    # Never halfway between two levels: 255 is odd.
    return ((total + 127) // 255).astype(np.uint8)


def decode_depth(data: bytes, *, name: str, scale: float | None = None) -> NDArray[np.float32]:
    """A depth map (H, W) in metres, from 16-bit PNG, TIFF, `.npy` or single-array `.npz`.

    `scale` is metres per stored unit: by default 0.001 for integers and 1 for floats. What is
    stored for "no measurement" stays what it is: 0 stays 0, NaN stays NaN.
    """
    if scale is not None:
        _check_scale(scale, name)
    if is_array_file(data, name=name):
        stored = load_array(data, name=name)
        if stored.ndim != 2 or stored.size == 0 or stored.dtype.kind not in "iuf":
            raise _unexpected_array(name, stored, _DEPTH_EXPECTED)
    else:
        image = read_image_header(data, name=name)
        integer = image.colour == "grey" and image.bits == 16
        if not integer and not (image.colour == "float grey" and image.bits == 32):
            raise _unexpected(name, image, _DEPTH_EXPECTED, hint="colour and 8-bit depth lose data")
        stored = np.asarray(_decode(image, name))
    if scale is None:
        scale = 1.0 if stored.dtype.kind == "f" else MILLIMETRE
    metres = np.empty(stored.shape, np.float32)
    # A float64 product, rounded once: bit-equal to the division by 1000 that datasets document.
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        np.multiply(stored, scale, out=metres, dtype=np.float64, casting="same_kind")
    return metres


def decode_labels(data: bytes, *, name: str) -> NDArray[np.int32]:
    """A label map (H, W): stored integers, of a palette image its indices, never its colours."""
    if is_array_file(data, name=name):
        stored = load_array(data, name=name)
        if stored.ndim != 2 or stored.size == 0 or stored.dtype.kind not in "iub":
            raise _unexpected_array(name, stored, _LABELS_EXPECTED)
        span = np.iinfo(np.int32)
        if stored.min() < span.min or stored.max() > span.max:
            raise ManifestError(f"{name}: holds labels that do not fit 32 bits")
        return stored.astype(np.int32)
    image = read_image_header(data, name=name)
    if image.bits not in _LABEL_BITS.get((image.format, image.colour), ()):
        raise _unexpected(name, image, _LABELS_EXPECTED)
    labels = np.asarray(_decode(image, name)).astype(np.int32)
    if image.colour == "grey" and image.bits in (2, 4):
        # Pillow spreads narrow grey over 0..255.
        labels //= 255 // (2**image.bits - 1)
    return labels


def encode_png(array: NDArray[Any]) -> bytes:
    """The PNG of uint8 (H, W) or (H, W, 3), or uint16 (H, W); raises `ValueError` for others."""
    from PIL import Image

    kind = (array.dtype.kind, array.dtype.itemsize, *array.shape[2:])
    if array.ndim < 2 or array.size == 0 or kind not in (("u", 1), ("u", 1, 3), ("u", 2)):
        raise ValueError(
            f"a PNG holds uint8 (H, W) or (H, W, 3), or uint16 (H, W); "
            f"found {array.dtype} {array.shape}"
        )
    native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    buffer = io.BytesIO()
    Image.fromarray(native).save(buffer, "PNG", compress_level=_COMPRESSION)
    return buffer.getvalue()


def _check_scale(scale: object, name: str) -> None:
    # It comes from the manifest, where anything may stand.
    if not is_finite_number(scale) or scale <= 0:
        raise ManifestError(
            f"{name}: the depth scale {quote(scale)} is not a positive number of metres per unit"
        )


@contextmanager
def _damage_named(image: EncodedImage, name: str) -> Iterator[None]:
    try:
        yield
    except _DECODER_FAILURES as problem:
        raise ManifestError(
            f"{name}: the {image} cannot be decoded: {problem}",
            hint="the file is damaged or cut off; fetch it again",
        ) from problem


def _decode(image: EncodedImage, name: str, *, rawmode: str | None = None) -> Image.Image:
    # The format's own class, not `Image.open`: no other format is tried, and no bomb warning.
    from PIL.JpegImagePlugin import JpegImageFile
    from PIL.PngImagePlugin import PngImageFile
    from PIL.TiffImagePlugin import TiffImageFile
    from PIL.WebPImagePlugin import WebPImageFile

    decoders: dict[str, Callable[[io.BytesIO], ImageFile]] = {
        "JPEG": JpegImageFile,
        "PNG": PngImageFile,
        "TIFF": TiffImageFile,
        "WEBP": WebPImageFile,
    }
    with _damage_named(image, name):
        picture = decoders[image.format](io.BytesIO(image.content))
        if picture.size != (image.width, image.height):
            raise ValueError("its headers disagree on the size")
        if rawmode is not None:
            picture.tile = cast("Any", [(*picture.tile[0][:3], rawmode)])
        picture.load()
    return picture


def _decode_deep_png(image: EncodedImage, name: str) -> NDArray[np.uint8]:
    # Pillow keeps one byte of each big-endian pair: the high one, or, told that the order is
    # little-endian, the low one. Both are needed to round.
    high, low = (_decode(image, name, rawmode=f"{image.colour};16{order}") for order in ("B", "L"))
    if "transparency" in high.info:
        raise _unexpected(name, image, "no transparent colour")
    values: NDArray[np.uint32] = np.asarray(high).astype(np.uint32) * 256 + np.asarray(low)
    return ((values + 128) // 257).astype(np.uint8)


def _expand(picture: Image.Image, image: EncodedImage, name: str) -> NDArray[np.uint8]:
    if picture.mode not in ("1", "L", "LA", "P", "PA", "RGB", "RGBA"):
        raise _unexpected(name, image, "a grey, palette, RGB or RGBA image")
    has_alpha = "transparency" in picture.info or picture.mode in ("LA", "PA", "RGBA")
    mode = "RGBA" if has_alpha else "RGB"
    with _damage_named(image, name):
        # A copy: the array over Pillow's own bytes is read-only.
        return np.array(picture if picture.mode == mode else picture.convert(mode))


def _unexpected(
    name: str, image: EncodedImage, expected: str, *, hint: str | None = None
) -> ManifestError:
    return ManifestError(f"{name}: found {image}; expected {expected}", hint=hint)


def _unexpected_array(name: str, array: NDArray[Any], expected: str) -> ManifestError:
    return ManifestError(f"{name}: found {array.dtype} of shape {array.shape}; expected {expected}")
