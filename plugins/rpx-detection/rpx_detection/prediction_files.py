"""Files of predicted boxes: what a run saves, and what other programs write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from rpx_core.arrays import load_arrays
from rpx_core.documents import read_json, read_text, to_json
from rpx_core.errors import ManifestError
from rpx_core.files import quote
from rpx_detection.boxes import Layout, Space
from rpx_detection.predicted import StoredBoxes, StoredDetections
from rpx_detection.types import DetectionPrediction, VisualGroundingPrediction
from rpx_detection.yolo_lines import parse_lines

DETECTION_KEYS = ("boxes", "scores", "labels")
GROUNDING_KEYS = ("boxes", "scores")
FORMAT_KEYS: Mapping[str, tuple[str, ...]] = {"layout": get_args(Layout), "space": get_args(Space)}


def write_detections(prediction: DetectionPrediction) -> bytes:
    """A JSON object of three lists: boxes (xyxy pixels), scores, labels."""
    return to_json(
        {
            "boxes": prediction.boxes.tolist(),
            "scores": prediction.scores.tolist(),
            "labels": list(prediction.labels),
        }
    )


def write_grounding(prediction: VisualGroundingPrediction) -> bytes:
    """A JSON object of two lists: boxes (xyxy pixels) and scores."""
    return to_json({"boxes": prediction.boxes.tolist(), "scores": prediction.scores.tolist()})


def read_detections(data: bytes, name: str) -> StoredDetections:
    """Detections from JSON, from a `.npz` with class indices, or from a YOLO `.txt`.

    A YOLO line is `class x y width height score`: an index, then the box's centre and size as
    fractions of the image.
    """
    if name.lower().endswith(".txt"):
        return _read_yolo(data, name)
    if name.lower().endswith(".npz"):
        arrays = load_arrays(data, name=name, require=DETECTION_KEYS)
        return StoredDetections(arrays["boxes"], arrays["scores"], labels=arrays["labels"])
    table = _read_table(data, name, DETECTION_KEYS)
    layout, space = _format_of(table, name)
    return StoredDetections(table["boxes"], table["scores"], layout, space, table["labels"])


def read_grounding(data: bytes, name: str) -> StoredBoxes:
    """Boxes and scores from JSON or `.npz`."""
    if name.lower().endswith(".npz"):
        arrays = load_arrays(data, name=name, require=GROUNDING_KEYS)
        return StoredBoxes(arrays["boxes"], arrays["scores"])
    table = _read_table(data, name, GROUNDING_KEYS)
    layout, space = _format_of(table, name)
    return StoredBoxes(table["boxes"], table["scores"], layout, space)


def _read_table(data: bytes, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    table = read_json(data, source=name)
    if not isinstance(table, dict):
        raise ManifestError(
            f"{name}: an object with {', '.join(keys)} was expected, not {type(table).__name__}",
            hint="a list of COCO results for all images is a file of its own, named after none",
        )
    missing = [key for key in keys if key not in table]
    unknown = [key for key in table if key not in (*keys, *FORMAT_KEYS)]
    if missing or unknown:
        found = f"lacks {', '.join(missing)}" if missing else f"holds {quote(unknown[0])}"
        raise ManifestError(
            f"{name}: {found}; the keys are {', '.join(keys)}, and {', '.join(FORMAT_KEYS)} where "
            "boxes are not xyxy pixels"
        )
    return table


def _format_of(table: Mapping[str, Any], name: str) -> tuple[Layout, Space]:
    for key, values in FORMAT_KEYS.items():
        if key in table and table[key] not in values:
            raise ManifestError(
                f"{name}: {key} is {quote(table[key])}; one of {', '.join(values)} was expected"
            )
    return cast("Layout", table.get("layout", "xyxy")), cast("Space", table.get("space", "pixels"))


def _read_yolo(data: bytes, name: str) -> StoredDetections:
    rows = parse_lines(
        read_text(data, source=name),
        ("x", "y", "width", "height", "score"),
        source=name,
        hint="detectors write the score with an option, as in save_conf=True",
    )
    return StoredDetections(
        boxes=[numbers[:4] for _, _, numbers in rows],
        scores=[numbers[4] for _, _, numbers in rows],
        layout="cxcywh",
        space="unit",
        labels=[index for _, index, _ in rows],
    )
