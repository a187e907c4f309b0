"""COCO results as predictions: one list with the detections of all images.

A result is `{"image_id", "category_id", "bbox": [x, y, width, height], "score"}`. The sample of an
image has its id as `metadata.image_id`, and its query names the categories.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.documents import read_json
from rpx_core.errors import ManifestError, ModelError, first_few
from rpx_core.files import quote
from rpx_core.magnitudes import is_finite_number
from rpx_detection.coco_files import LIMIT
from rpx_detection.predicted import StoredDetections
from rpx_detection.types import DetectionQuery

if TYPE_CHECKING:
    from rpx_core.records import Record


class CocoResults:
    """The format: a JSON list; an image without results has no detections."""

    def holds(self, name: str, head: bytes) -> bool:
        """A JSON file that begins as a list does; that of one image is an object."""
        return name.lower().endswith(".json") and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["

    def owner(self, sample: Sample | Record) -> str | None:
        """Its image id."""
        image = (sample.metadata or {}).get("image_id")
        return str(image) if type(image) is int else None

    def read(self, data: bytes, name: str) -> CocoAnswers:
        """The results of a file."""
        listed = read_json(data, source=name, limit=LIMIT)
        if not isinstance(listed, list):
            raise ManifestError(f"{name}: a list of results was expected")
        rows = [_parse(result, f"{name}: result {number}") for number, result in enumerate(listed)]
        return CocoAnswers(name, np.array(rows, np.float64).reshape(-1, 7))


class CocoAnswers:
    """Results (N, 7) of image, category, x, y, width, height and score, in the order of the file.

    Ids are whole numbers below 2^53, which floats hold exactly.
    """

    def __init__(self, name: str, rows: NDArray[np.float64]) -> None:
        self._name = name
        self._rows = rows[np.argsort(rows[:, 0], kind="stable")]

    @property
    def owners(self) -> Collection[str]:
        """The ids of the images that have results."""
        return {str(image) for image in np.unique(self._rows[:, 0]).astype(np.int64).tolist()}

    def of(self, sample: Sample) -> StoredDetections:
        """The results of a sample's image; raises ModelError where the data lacks its ids."""
        image = (sample.metadata or {}).get("image_id")
        names = sample.query.categories if isinstance(sample.query, DetectionQuery) else {}
        if type(image) is not int or not names:
            lacks = "metadata.image_id" if type(image) is not int else "category_ids"
            raise ModelError(
                f"sample {sample.id}: its record has no `{lacks}`, which {self._name} refers to",
                hint="`rpx data index coco ROOT` writes a manifest that has it",
            )
        start, end = np.searchsorted(self._rows[:, 0], (image, image + 1)).tolist()
        rows = self._rows[start:end]
        categories = rows[:, 1].astype(np.int64).tolist()
        unknown = sorted({category for category in categories if category not in names})
        if unknown:
            raise ModelError(
                f"sample {sample.id}: {self._name} has results of the category "
                f"{first_few(list(map(str, unknown)))}, which the data does not have",
                hint=f"its categories are {first_few([f'{i} {n}' for i, n in names.items()])}",
            )
        labels = [names[category] for category in categories]
        return StoredDetections(rows[:, 2:6], rows[:, 6], "xywh", labels=labels)


def _parse(result: Any, where: str) -> tuple[float, ...]:
    if not isinstance(result, dict):
        raise ManifestError(f"{where}: an object was expected, not {quote(result)}")
    ids = [result.get(key) for key in ("image_id", "category_id")]
    for key, value in zip(("image_id", "category_id"), ids, strict=True):
        if type(value) is not int or not abs(value) < 2**53:
            raise ManifestError(f"{where}: {key} is {quote(value)}; a whole number was expected")
    box, score = result.get("bbox"), result.get("score")
    if not isinstance(box, list) or len(box) != 4 or not all(map(is_finite_number, [*box, score])):
        raise ManifestError(f"{where}: bbox [x, y, width, height] and score must be numbers")
    return (*ids, *box, score)
