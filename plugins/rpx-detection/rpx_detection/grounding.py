"""The task `visual_grounding`: the box that an expression refers to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from rpx_core.adapters import FORGOTTEN
from rpx_core.contracts import Frame, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError, kind_of
from rpx_core.files import Files, quote
from rpx_core.frames import image_of, load_sample
from rpx_core.records import Record
from rpx_detection.annotations import check_count, check_inside, parse_box, read_list
from rpx_detection.boxes import Boxes
from rpx_detection.labels import find_fault
from rpx_detection.predicted import StoredBoxes, canonical_grounding
from rpx_detection.prediction_files import read_grounding, write_grounding
from rpx_detection.preview import draw_grounding
from rpx_detection.types import (
    GroundingQuery,
    VisualGroundingGroundTruth,
    VisualGroundingPrediction,
)

LONGEST_TEXT = 2000


class VisualGrounding(Task[VisualGroundingGroundTruth, VisualGroundingPrediction]):
    """One expression on one image: the best-scored box answers, no box says "nothing here".

    A record that lists several `expressions` gives a sample for each, with the ids `<id>#0`,
    `<id>#1`, ...; one with `text` and `boxes` is a sample as it is.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".json"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def arrange(self, records: Sequence[Record], files: Files) -> Sequence[Record]:
        """A record per expression; expressions that lie in files are read from `files`."""
        return [part for record in records for part in _split(record, files)]

    def load(self, record: Record, files: Files) -> Sample:
        """The image, the expression as the query, and the boxes it refers to."""
        where = f"sample {record.id}"
        text = record.assets.get("text")
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
            raise ManifestError(
                f"{where}: text is {quote(text)}; an expression of 1 to {LONGEST_TEXT} characters "
                "was expected"
            )
        listed = read_list(record.assets.get("boxes"), f"{where}: boxes", files)
        check_count(listed, f"{where}: boxes")
        truth = VisualGroundingGroundTruth(text, _boxes(listed, where), _labels(record))
        sample = load_sample(record, files, ground_truth=truth, query=GroundingQuery(text))
        rgb = image_of(sample, "grounding")
        check_inside(truth.boxes, rgb, f"{where}: boxes")
        return sample

    def complete(self, sample: Sample) -> Sample:
        """The query is the expression of the ground truth."""
        if sample.query is not None or sample.ground_truth is None:
            return sample
        return replace(sample, query=GroundingQuery(sample.ground_truth.text))

    def validate(self, prediction: Any, sample: Sample) -> VisualGroundingPrediction:
        """Own float64 boxes and scores; several boxes need scores that rank them."""
        if isinstance(prediction, VisualGroundingPrediction):
            prediction = StoredBoxes(prediction.boxes, prediction.scores)
        if not isinstance(prediction, StoredBoxes):
            raise ModelError(
                f"sample {sample.id}: the prediction is {kind_of(prediction)}; a "
                "VisualGroundingPrediction was expected",
                hint=FORGOTTEN if prediction is None else None,
            )
        return canonical_grounding(prediction, sample)

    def perfect_prediction(self, sample: Sample) -> VisualGroundingPrediction:
        """The boxes that the expression refers to, all equally sure."""
        boxes = sample.ground_truth.boxes.copy()
        return VisualGroundingPrediction(boxes, np.ones(len(boxes)))

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image with its expression, what it refers to, and what was answered."""
        return draw_grounding(frame.sample.rgb, frame.truth, frame.prediction)

    def write_prediction(self, prediction: VisualGroundingPrediction) -> bytes:
        """A JSON object of boxes and scores."""
        return write_grounding(prediction)

    def read_prediction(self, data: bytes, name: str) -> StoredBoxes:
        """Boxes and scores from JSON or `.npz`."""
        return read_grounding(data, name)


def _split(record: Record, files: Files | None) -> list[Record]:
    if not record.has("expressions"):
        return [record]
    where, listed = f"sample {record.id}: expressions", record.assets["expressions"]
    if isinstance(listed, str):
        if files is None:
            raise ManifestError(f"{where}: {listed} is a file, but no files were given")
        listed = read_list(listed, where, files)
    if not isinstance(listed, list | tuple):
        raise ManifestError(f"{where}: a list was expected, not {type(listed).__name__}")
    parts = []
    for number, entry in enumerate(listed):
        if not isinstance(entry, dict) or set(entry) != {"text", "boxes"}:
            raise ManifestError(f"{where}[{number}]: an object of `text` and `boxes` was expected")
        assets = {key: value for key, value in record.assets.items() if key != "expressions"}
        parts.append(
            record.model_copy(update={"id": f"{record.id}#{number}", "assets": {**assets, **entry}})
        )
    return parts


def _boxes(listed: Sequence[Any], where: str) -> Boxes:
    """Plain boxes, or objects that hold one as `bbox`."""
    boxes = [
        parse_box(entry.get("bbox") if isinstance(entry, dict) else entry, f"{where}: boxes[{n}]")
        for n, entry in enumerate(listed)
    ]
    return np.array(boxes, np.float64).reshape(-1, 4)


def _labels(record: Record) -> tuple[str, ...] | None:
    listed = record.assets.get("labels")
    if listed is None:
        return None
    fault = find_fault(listed) if isinstance(listed, list | tuple) else "is no list"
    if fault:
        raise ManifestError(f"sample {record.id}: labels: {fault}")
    return tuple(listed)
