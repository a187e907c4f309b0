"""Label maps in files: ids as PNG, TIFF or numpy store them, and predicted segments with scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.arrays import NPZ_MAGIC, encode_npz, is_array_file, load_arrays
from rpx_core.errors import ManifestError
from rpx_core.image_formats import read_image_header
from rpx_core.images import decode_labels, decode_rgb, encode_png
from rpx_seg.types import LabelMap, SegmentationPrediction

Encoding = Literal["ids", "packed-rgb"]
"""How pictures hold ids: as they are, or as id = R + 256 G + 65536 B (COCO panoptic)."""

SUFFIXES = (".png", ".npy", ".npz", ".tif", ".tiff")

_PARTS = ("ids", "scores", "labels")


def decode_mask(data: bytes, *, name: str, encoding: Encoding = "ids") -> LabelMap:
    """A label map (H, W) of whole numbers from 0, int32, from a picture or a numpy file.

    Of a palette picture these are its indices. Raises ManifestError naming `name` for colours
    (unless `encoding` says that they are packed ids), floats, and negative ids.
    """
    if not is_array_file(data, name=name):
        colour = read_image_header(data, name=name).colour
        if encoding == "packed-rgb":
            return unpack_ids(decode_rgb(data, name=name))
        if colour in ("RGB", "RGBA"):
            raise ManifestError(
                f"{name}: holds {colour} colours; a label map has one number per pixel",
                hint="if they are COCO's packed ids, --set options.encoding='\"packed-rgb\"'; "
                "else save ids as 16-bit grey PNG",
            )
    mask = decode_labels(data, name=name)
    if mask.min() < 0:
        raise ManifestError(
            f"{name}: holds the negative id {mask.min()}; ids start at 0, the background",
            hint="where -1 means none, add 1 to all ids; in a ground truth, give pixels without "
            "annotation an id of their own and name it in options.ignore",
        )
    return mask


def unpack_ids(rgb: NDArray[np.uint8]) -> LabelMap:
    """Ids R + 256 G + 65536 B of a picture in RGB order."""
    red, green, blue = (rgb[..., channel].astype(np.int32) for channel in range(3))
    ids: LabelMap = red + (green << 8) + (blue << 16)
    return ids


def encode_classes(mask: LabelMap) -> bytes:
    """A PNG of class ids 0 to 65535: 8 bits deep where they fit, else 16."""
    return encode_png(mask.astype(np.uint8 if mask.max() < 256 else np.uint16))


def encode_segments(prediction: SegmentationPrediction) -> bytes:
    """A compressed `.npz` of `mask`, and of `ids`, `scores`, `labels` where there are any."""
    mask = prediction.mask
    arrays: dict[str, NDArray[Any]] = {
        "mask": mask.astype(np.uint16) if mask.max() < 2**16 else mask
    }
    parts = [part for part in (prediction.scores, prediction.labels) if part is not None]
    if parts:
        ids = sorted(set(parts[0]))
        arrays["ids"] = np.array(ids, np.int64)
        if prediction.scores is not None:
            arrays["scores"] = np.array([prediction.scores[i] for i in ids], np.float64)
        if prediction.labels is not None:
            arrays["labels"] = np.array([prediction.labels[i] for i in ids], np.str_)
    return encode_npz(arrays)


def decode_segments(data: bytes, *, name: str, encoding: Encoding) -> SegmentationPrediction:
    """Predicted segments from what `encode_segments` writes, or from any label map without scores.

    Raises ManifestError naming `name` when scores or labels do not go with `ids`.
    """
    if not data.startswith(NPZ_MAGIC):
        return SegmentationPrediction(decode_mask(data, name=name, encoding=encoding))
    arrays = load_arrays(data, name=name, text=("labels",))
    if len(arrays) == 1:
        return SegmentationPrediction(decode_mask(data, name=name))
    _check_parts(arrays, name)
    mask = arrays["mask"]
    if mask.ndim != 2 or mask.dtype.kind not in "iub" or mask.size == 0:
        raise ManifestError(f"{name}: `mask` is {mask.dtype} {mask.shape}; whole (H, W) expected")
    ids = [int(i) for i in arrays["ids"]]
    scores, labels = arrays.get("scores"), arrays.get("labels")
    return SegmentationPrediction(
        mask,
        None if scores is None else dict(zip(ids, map(float, scores), strict=True)),
        None if labels is None else dict(zip(ids, map(str, labels), strict=True)),
    )


def _check_parts(arrays: Mapping[str, NDArray[Any]], name: str) -> None:
    known = {"mask", *_PARTS}
    if not {"mask", "ids"} <= set(arrays) <= known:
        raise ManifestError(
            f"{name}: holds the arrays {', '.join(sorted(arrays))}; expected mask, ids, and "
            "scores or labels"
        )
    ids = arrays["ids"]
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or np.unique(ids).size != ids.size:
        raise ManifestError(f"{name}: `ids` must be a list of different whole numbers")
    for part, kinds in (("scores", "iuf"), ("labels", "U")):
        array = arrays.get(part)
        if array is None:
            continue
        if array.dtype.kind not in kinds:
            wanted = "numbers" if part == "scores" else "class names as text"
            raise ManifestError(f"{name}: `{part}` are {array.dtype}; {wanted} were expected")
        if array.ndim != 1 or len(array) != len(ids):
            raise ManifestError(
                f"{name}: `{part}` has shape {array.shape}; one per id was expected ({len(ids)})"
            )
