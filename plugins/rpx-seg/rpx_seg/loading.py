"""What both segmentation tasks load and check alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import array_hint
from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError, ModelError, kind_of
from rpx_core.files import Files
from rpx_core.frames import check_size
from rpx_core.images import decode_depth
from rpx_core.records import Record
from rpx_core.truth_maps import check_truth_metres, check_truth_size
from rpx_core.warp import is_measured
from rpx_seg.mask_files import Encoding, decode_mask
from rpx_seg.overlaps import MAX_LABELS, VOID
from rpx_seg.resize import resize_labels
from rpx_seg.types import LabelMap

Resize = Literal["error", "nearest"]
"""What is done to a prediction of another size than the image."""

_NOT_LABELS = "a label map holds one id for each class or object; is this a depth map or a picture?"


def load_mask(record: Record, key: str, files: Files, encoding: Encoding = "ids") -> LabelMap:
    """The label map that a record lists under this key."""
    name = record.path_of(key)
    mask = decode_mask(files.read(name), name=name, encoding=encoding)
    excess = find_excess(mask)
    if excess is not None:
        raise ManifestError(f"{name}: {excess}", hint=_NOT_LABELS)
    return mask


def find_excess(mask: LabelMap) -> str | None:
    """What is wrong with a map of more labels than can be compared, if it is one."""
    # The span is known at once, and in nearly every map it is small.
    if mask.size == 0 or int(mask.max()) - int(mask.min()) < MAX_LABELS:
        return None
    found = np.unique(mask).size
    return (
        f"holds {found:,} labels; at most {MAX_LABELS:,} are read" if found > MAX_LABELS else None
    )


def load_depth(record: Record, files: Files) -> NDArray[np.float32] | None:
    """The depth map that a record lists, 0 where nothing was measured; None without one."""
    if not record.has("depth"):
        return None
    name = record.path_of("depth")
    depth = decode_depth(files.read(name), name=name, scale=record.assets.get("depth_scale"))
    return np.where(is_measured(depth), depth, np.float32(0))


def check_sizes(
    record: Record, rgb: NDArray[np.uint8], maps: Mapping[str, NDArray[Any] | None]
) -> None:
    """Raise ManifestError unless the maps that are there, by their keys, have the image's size."""
    for key, found in maps.items():
        if found is not None:
            where = f"sample {record.id}: {key} {record.path_of(key)}"
            check_size(where, found.shape, rgb, f"rgb {record.rgb}")


def check_truth(sample: Sample) -> None:
    """Raise ManifestError for a truth of another size than its image, or a depth not in metres."""
    check_truth_metres(sample, "depth")
    check_truth_size(sample, "mask", "depth")


def make_void(mask: LabelMap, ids: frozenset[int]) -> LabelMap:
    """The label map with these ids turned into void."""
    if not ids:
        return mask
    return np.where(np.isin(mask, sorted(ids)), np.int32(VOID), mask)


def check_mask(mask: Any, sample: Sample, shape: tuple[int, ...], resize: Resize) -> LabelMap:
    """A predicted label map as an int32 copy of its own, of the ground truth's shape.

    Raises ModelError naming the sample for anything but whole numbers from 0 in (H, W).
    """
    problem, hint = _find_problem(mask, shape)
    if problem is None and mask.shape != shape and resize == "error":
        problem = f"is {mask.shape}; the ground truth is {shape}"
        hint = "resize in the model or adapter, or --set options.resize='\"nearest\"'"
    if problem is not None:
        raise ModelError(f"sample {sample.id}: the predicted mask {problem}", hint=hint)
    excess = find_excess(mask)
    if excess is not None:
        raise ModelError(f"sample {sample.id}: the predicted mask {excess}", hint=_NOT_LABELS)
    own: LabelMap = np.array(mask, dtype=np.int32, order="C", copy=True, subok=False)
    return np.ascontiguousarray(resize_labels(own, (shape[0], shape[1])), dtype=np.int32)


def _find_problem(mask: Any, shape: tuple[int, ...]) -> tuple[str | None, str | None]:
    if not isinstance(mask, np.ndarray):
        return (
            f"is {kind_of(mask)}; a numpy array was expected",
            array_hint(mask),
        )
    if mask.ndim != 2 or mask.size == 0:
        colours = mask.ndim == 3 and mask.shape[2] in (3, 4)
        return (
            f"has shape {mask.shape}; {tuple(shape)} was expected",
            "a mask holds one id per pixel, not colours" if colours else None,
        )
    if mask.dtype.kind not in "iub":
        return (
            f"has dtype {mask.dtype}; whole ids were expected",
            "threshold probabilities, or take the argmax over classes, in the model or adapter",
        )
    if mask.min() < 0:
        return (
            f"holds the negative id {mask.min()}; ids start at 0",
            "shift ids by 1 when -1 means none and 0 is a segment",
        )
    if mask.max() > np.iinfo(np.int32).max:
        return f"holds the id {mask.max()}, which does not fit 32 bits", "number segments from 1"
    return None, None
