"""What a record says of the objects in its image: boxes, labels, crowds, areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.documents import read_json
from rpx_core.errors import ManifestError
from rpx_core.files import Files, quote
from rpx_core.magnitudes import PIXELS, find_absurd, is_finite_number
from rpx_core.records import Record
from rpx_core.spelling import did_you_mean
from rpx_detection.boxes import MAX_OBJECTS, Boxes
from rpx_detection.labels import LabelRule, find_fault, normalise
from rpx_detection.types import DetectionGroundTruth

ENTRY_KEYS = ("bbox", "label", "track_id", "id", "crowd", "iscrowd", "ignore", "area", "metadata")
"""What one entry of a list of boxes may hold; `iscrowd` is COCO's name for `crowd`."""


@dataclass(frozen=True)
class Entry:
    """One annotated object."""

    box: tuple[float, float, float, float]
    label: str
    crowd: bool = False
    ignore: bool = False
    area: float | None = None


def load_truth(record: Record, files: Files, rule: LabelRule) -> DetectionGroundTruth:
    """The annotated objects of a record; raises ManifestError naming the sample and the entry."""
    where = f"sample {record.id}: boxes"
    listed = read_list(record.assets.get("boxes"), where, files)
    check_count(listed, where)
    entries = [_parse_entry(raw, f"{where}[{number}]") for number, raw in enumerate(listed)]
    areas = [_box_area(entry) if entry.area is None else entry.area for entry in entries]
    negatives = load_labels(record, "negative_labels", rule)
    labels = tuple(normalise(entry.label, rule) for entry in entries)
    both = sorted(set(labels) & set(negatives or ()))
    if both:
        raise ManifestError(
            f"sample {record.id}: {both[0]!r} is annotated, and in negative_labels as absent",
            hint="remove it from one of the two",
        )
    return DetectionGroundTruth(
        boxes=np.array([entry.box for entry in entries], np.float64).reshape(-1, 4),
        labels=labels,
        crowd=np.array([entry.crowd for entry in entries], np.bool_),
        ignore=np.array([entry.ignore for entry in entries], np.bool_),
        area=np.array(areas, np.float64),
        negative_labels=None if negatives is None else frozenset(negatives),
        not_exhaustive_labels=frozenset(load_labels(record, "not_exhaustive_labels", rule) or ()),
    )


def load_labels(record: Record, key: str, rule: LabelRule) -> tuple[str, ...] | None:
    """A list of class names that a record carries inline, without repetition; None if it has none.

    Raises ManifestError where two spellings of it are the same class under the rule.
    """
    listed = record.assets.get(key)
    if listed is None:
        return None
    where = f"sample {record.id}: {key}"
    if not isinstance(listed, list | tuple):
        raise ManifestError(f"{where}: a list of class names was expected, not {quote(listed)}")
    fault = find_fault(listed)
    if fault:
        raise ManifestError(f"{where}: {fault}")
    names = tuple(normalise(label, rule) for label in listed)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ManifestError(f"{where}: {', '.join(map(repr, twice))} is listed twice")
    return names


def load_categories(record: Record, rule: LabelRule) -> dict[int, str]:
    """The names of the record's own vocabulary by its `category_ids`; empty without those."""
    numbers = record.assets.get("category_ids")
    if numbers is None:
        return {}
    names = load_labels(record, "vocabulary", rule) or ()
    whole = isinstance(numbers, list | tuple) and all(type(number) is int for number in numbers)
    if not whole or len(set(numbers)) != len(numbers) or len(numbers) != len(names):
        raise ManifestError(
            f"sample {record.id}: category_ids: a different whole number for each of the "
            f"{len(names)} names of `vocabulary` was expected"
        )
    return dict(zip(numbers, names, strict=True))


def read_list(value: Any, where: str, files: Files) -> list[Any]:
    """A list that a record holds inline, or in the JSON file that it names."""
    if isinstance(value, str):
        where, value = value, read_json(files.read(value), source=value)
    if not isinstance(value, list | tuple):
        raise ManifestError(f"{where}: a list was expected, not {type(value).__name__}")
    return list(value)


def check_count(listed: Sequence[Any], where: str) -> None:
    """Raise ManifestError for more objects than an image may hold."""
    if len(listed) > MAX_OBJECTS:
        raise ManifestError(
            f"{where}: holds {len(listed):,} boxes; at most {MAX_OBJECTS:,} are read of one image",
            hint="tile the image, or leave out what is too small to matter",
        )


def parse_box(value: Any, where: str) -> tuple[float, float, float, float]:
    """Four finite numbers x0, y0, x1, y1 with x0 < x1 and y0 < y1."""
    numbers = value if isinstance(value, list | tuple) else ()
    if len(numbers) != 4 or not all(is_finite_number(number) for number in numbers):
        raise ManifestError(f"{where}: {quote(value)} is no box; [x0, y0, x1, y1] was expected")
    absurd = find_absurd(np.array(numbers, np.float64), PIXELS)
    if absurd is not None:
        raise ManifestError(f"{where}: box {absurd}", hint="coordinates are pixels of the image")
    x0, y0, x1, y1 = map(float, numbers)
    if not (x0 < x1 and y0 < y1):
        raise ManifestError(
            f"{where}: box {quote(list(value))} has no area; x0 < x1 and y0 < y1 were expected",
            hint="boxes are corners [x0, y0, x1, y1], not [x, y, width, height]",
        )
    return x0, y0, x1, y1


def check_inside(boxes: Boxes, rgb: NDArray[np.uint8], where: str) -> None:
    """Raise ManifestError for a box that does not touch the image at all."""
    height, width = rgb.shape[:2]
    apart = (boxes[:, 2:] <= 0).any(axis=1) | (boxes[:, :2] >= (width, height)).any(axis=1)
    if apart.any():
        index = int(np.argmax(apart))
        raise ManifestError(
            f"{where}[{index}]: box {boxes[index].tolist()} lies outside the image, which is "
            f"{width}x{height} (width x height)",
            hint="coordinates are pixels of the stored image",
        )


def _parse_entry(raw: Any, where: str) -> Entry:
    if not isinstance(raw, Mapping):
        raise ManifestError(f"{where}: an object with `bbox` and `label` was expected")
    for key in raw:
        if key not in ENTRY_KEYS:
            raise ManifestError(
                f"{where}: unknown key {quote(key)}",
                hint=did_you_mean(str(key), ENTRY_KEYS) or "free-form values belong in `metadata`",
            )
    fault = find_fault([raw.get("label")])
    if fault:
        raise ManifestError(f"{where}: {fault}")
    area = raw.get("area")
    if area is not None and not (is_finite_number(area) and 0 < area <= PIXELS.limit**2):
        raise ManifestError(
            f"{where}: area is {quote(area)}; a positive number of square pixels was expected",
            hint="leave `area` out where only the box is known",
        )
    return Entry(
        box=parse_box(raw.get("bbox"), where),
        label=raw["label"],
        crowd=_flag(raw, ("crowd", "iscrowd"), where),
        ignore=_flag(raw, ("ignore",), where),
        area=None if area is None else float(area),
    )


def _flag(raw: Mapping[str, Any], keys: Sequence[str], where: str) -> bool:
    for key in keys:
        if raw.get(key) not in (None, False, True, 0, 1):
            raise ManifestError(f"{where}: {key} is {quote(raw[key])}; true or false was expected")
    return any(bool(raw.get(key)) for key in keys)


def _box_area(entry: Entry) -> float:
    x0, y0, x1, y1 = entry.box
    return (x1 - x0) * (y1 - y0)
