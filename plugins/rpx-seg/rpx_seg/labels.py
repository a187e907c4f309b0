"""Names of classes and instances, from whatever a record says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.documents import read_json
from rpx_core.errors import ManifestError
from rpx_core.files import Files, quote
from rpx_core.magnitudes import PIXELS, find_absurd, is_finite_number
from rpx_core.records import Record
from rpx_seg.types import LabelMap

CLASSES_FILE = "classes.json"
VOID_NAMES = frozenset({"unlabelled", "unlabeled", "unlabel", "void", "ignore", "ignored"})
"""Names by which datasets mean that a pixel is not annotated."""

_ID = re.compile(r"\d{1,10}", re.ASCII)

SAME_BOX = 0.5
"""A box is an instance's when it overlaps its tight box by this IoU at least."""


@dataclass(frozen=True)
class Box:
    """One entry of a boxes file: half-open xyxy in pixels, its class, its instance id if given."""

    corners: tuple[float, float, float, float]
    label: str | None = None
    instance: int | None = None


def read_names(value: Any, files: Files, *, where: str) -> dict[int, str]:
    """Names by id from `{"1": "mug"}`, from a list whose positions are ids, or from such a file.

    Raises ManifestError for anything else.
    """
    if isinstance(value, str):
        where = value
        value = read_json(files.read(value), source=value)
    if isinstance(value, list):
        value = {str(number): name for number, name in enumerate(value)}
    if not isinstance(value, dict):
        raise ManifestError(f"{where}: names by id were expected, not {type(value).__name__}")
    names = {}
    for key, name in value.items():
        if not _ID.fullmatch(str(key)) or not isinstance(name, str):
            raise ManifestError(
                f"{where}: {quote(key)}: {quote(name)} is not an id with a name",
                hint='expected {"1": "mug", "2": "table"}',
            )
        names[int(key)] = name
    return names


def find_classes(record: Record, files: Files, asset: str) -> dict[int, str]:
    """The classes of a record: its `labels`, else the nearest `classes.json`.

    The file is looked for beside the asset and in every folder above it, up to the dataset's root.
    Empty when there is neither.
    """
    if record.has("labels"):
        return read_names(record.assets["labels"], files, where=f"sample {record.id}: labels")
    place = PurePosixPath(asset)
    for folder in () if place.is_absolute() else place.parents:
        name = (folder / CLASSES_FILE).as_posix()
        if (files.root / name).is_file():
            return read_names(name, files, where=name)
    return {}


def read_boxes(value: Any, files: Files, *, where: str) -> list[Box]:
    """The entries of a boxes list, inline or in a JSON file; raises ManifestError naming one."""
    if isinstance(value, str):
        where = value
        value = read_json(files.read(value), source=value)
    if not isinstance(value, list):
        raise ManifestError(f"{where}: a list of boxes was expected")
    return [_read_box(entry, f"{where}: box {number}") for number, entry in enumerate(value)]


def label_instances(mask: LabelMap, boxes: list[Box]) -> dict[int, str]:
    """The class of each instance that a box names: by its id, else by where the box lies.

    Without an id, a box belongs to the instance whose tight box it overlaps best, if by an IoU of
    at least `SAME_BOX`; the best fits are settled first, and each side is used once.
    """
    ids, tight = tight_boxes(mask)
    known = {b.instance: b.label for b in boxes if b.instance is not None and b.label is not None}
    labels = {int(i): known[int(i)] for i in ids if int(i) in known}
    unnamed = [box for box in boxes if box.instance is None and box.label is not None]
    overlap = _box_iou(np.array([box.corners for box in unnamed]).reshape(-1, 4), tight)
    while overlap.size and overlap.max() >= SAME_BOX:
        box, instance = np.unravel_index(overlap.argmax(), overlap.shape)
        labels[int(ids[instance])] = unnamed[box].label or ""
        overlap[box] = overlap[:, instance] = 0
    return labels


def tight_boxes(mask: LabelMap) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Ids above 0 and their half-open xyxy boxes in pixels."""
    rows, columns = np.nonzero(mask > 0)
    ids, owner = np.unique(mask[rows, columns], return_inverse=True)
    corners = np.empty((4, ids.size))
    corners[:2], corners[2:] = np.inf, -np.inf
    for place, values, extreme in (
        (0, columns, np.minimum),
        (1, rows, np.minimum),
        (2, columns + 1, np.maximum),
        (3, rows + 1, np.maximum),
    ):
        extreme.at(corners[place], owner, values)
    return ids.astype(np.int64), corners.T


def _read_box(entry: object, where: str) -> Box:
    if not isinstance(entry, Mapping):
        raise ManifestError(f"{where}: an object with `bbox` was expected")
    corners, label, instance = (entry.get(key) for key in ("bbox", "label", "id"))
    numbers = (
        [float(value) for value in corners if is_finite_number(value)]
        if isinstance(corners, list)
        else []
    )
    if len(numbers) != 4 or not isinstance(corners, list) or len(corners) != 4:
        raise ManifestError(f"{where}: bbox must be four finite numbers x0, y0, x1, y1")
    absurd = find_absurd(numbers, PIXELS)
    if absurd is not None:
        raise ManifestError(f"{where}: bbox {absurd}", hint="boxes are pixels of the image")
    if not isinstance(label, str | None):
        raise ManifestError(f"{where}: label must be a text")
    if isinstance(instance, bool) or not isinstance(instance, int | None):
        raise ManifestError(f"{where}: id must be the whole number of an instance in the mask")
    x0, y0, x1, y1 = numbers
    return Box((x0, y0, x1, y1), label, instance)


def _box_iou(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=2)
    area_a, area_b = (np.prod(box[:, 2:] - box[:, :2], axis=1) for box in (first, second))
    union = area_a[:, None] + area_b[None, :] - shared
    iou: NDArray[np.float64] = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return iou
