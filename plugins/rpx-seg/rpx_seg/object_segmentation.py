"""The task `object_segmentation`: every object of one image, as a map of instance ids."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from rpx_core.boundaries import label_boundary
from rpx_core.contracts import Frame, Picture, Sample, Task
from rpx_core.errors import ModelError, first_few, kind_of
from rpx_core.files import Files
from rpx_core.frames import expected_size, image_of, load_sample
from rpx_core.records import Record
from rpx_seg.labels import Box, label_instances, read_boxes, read_names
from rpx_seg.loading import (
    Resize,
    check_mask,
    check_sizes,
    check_truth,
    load_depth,
    load_mask,
    make_void,
)
from rpx_seg.mask_files import SUFFIXES, Encoding, decode_segments, encode_segments
from rpx_seg.preview import draw_instances
from rpx_seg.types import (
    LabelMap,
    SegmentationGroundTruth,
    SegmentationPrediction,
    SegmentationQuery,
)

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""What numpy drops at the end of a text, and what is no character."""


class ObjectSegmentationOptions(BaseModel):
    """How masks are read, and what models are given.

    Pixels of the true ids in `ignore` are void: nothing there is judged. With `prompts = "boxes"`
    models get the true boxes, without their classes. `encoding` says how pictures hold ids:
    `packed-rgb` is COCO's R + 256 G + 65536 B. A prediction of another size than the image is a
    failed sample, unless `resize` says to scale it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ignore: tuple[int, ...] = ()
    prompts: Literal["none", "boxes"] = "none"
    encoding: Encoding = "ids"
    resize: Resize = "error"


class ObjectSegmentation(Task[SegmentationGroundTruth, SegmentationPrediction]):
    """A segment for every object; ids are labels, so any numbering will do, of any gaps.

    0 is background. Classes of true instances come from the record's `boxes` or `labels`, where
    there are any; classes and scores of predicted ones from the model.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".npz"
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def __init__(self, options: ObjectSegmentationOptions) -> None:
        self._options = options
        self._ignored = frozenset(options.ignore)

    def load(self, record: Record, files: Files) -> Sample:
        """The image with its instances, their classes, and depth to follow them by, if any."""
        mask = load_mask(record, "mask", files, self._options.encoding)
        boxes = _load_boxes(record, files)
        depth = load_depth(record, files)
        sample = load_sample(
            record,
            files,
            ground_truth=SegmentationGroundTruth(
                make_void(mask, self._ignored), _load_labels(record, files, mask, boxes), depth
            ),
            query=self._make_query(boxes),
        )
        check_sizes(record, image_of(sample, "segmentation"), {"mask": mask, "depth": depth})
        return sample

    def complete(self, sample: Sample) -> Sample:
        """The sample as it is; raises as `check_truth`."""
        check_truth(sample)
        return sample

    def validate(self, prediction: Any, sample: Sample) -> SegmentationPrediction:
        """An int32 mask of the image's size that nobody else holds; accepts a bare array.

        Scores and labels, where given, cover every segment of the mask and nothing else.
        """
        own = (
            prediction
            if isinstance(prediction, SegmentationPrediction)
            else SegmentationPrediction(prediction)
        )
        size = expected_size(sample, "mask")
        mask = check_mask(own.mask, sample, size, self._options.resize)
        ids = [int(i) for i in np.unique(mask) if i > 0]
        # Scaling may lose a segment; what never was one is a mistake.
        drawn = ids if own.mask.shape == mask.shape else np.unique(own.mask).tolist()
        scores = _complete(own.scores, (ids, drawn), "score", sample)
        labels = _complete(own.labels, (ids, drawn), "label", sample)
        return SegmentationPrediction(
            mask,
            None if scores is None else {i: _score(scores[i], i, sample) for i in ids},
            None if labels is None else {i: _label(labels[i], i, sample) for i in ids},
        )

    def boundary(self, prediction: SegmentationPrediction, sample: Sample) -> NDArray[np.bool_]:
        """Where the predicted segment changes to the right or below."""
        return label_boundary(prediction.mask)

    def perfect_prediction(self, sample: Sample) -> SegmentationPrediction:
        """The true segments with their classes, all equally sure."""
        truth: SegmentationGroundTruth = sample.ground_truth
        mask = np.where(truth.mask > 0, truth.mask, 0).astype(np.int32)
        ids = [int(i) for i in np.unique(mask) if i > 0]
        known = truth.labels or {}
        labels = {i: known[i] for i in ids} if ids and all(i in known for i in ids) else None
        return SegmentationPrediction(mask, dict.fromkeys(ids, 1.0), labels)

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image, true and predicted segments in matching colours, and the wrong pixels."""
        return draw_instances(frame.sample.rgb, frame.truth.mask, frame.prediction.mask)

    def write_prediction(self, prediction: SegmentationPrediction) -> bytes:
        """A `.npz` of mask, ids, scores and labels."""
        return encode_segments(prediction)

    def read_prediction(self, data: bytes, name: str) -> SegmentationPrediction:
        """Segments from that `.npz`, or a bare map from PNG, TIFF or `.npy`."""
        return decode_segments(data, name=name, encoding=self._options.encoding)

    def _make_query(self, boxes: list[Box]) -> SegmentationQuery:
        if self._options.prompts == "none":
            return SegmentationQuery()
        return SegmentationQuery(np.array([box.corners for box in boxes]).reshape(-1, 4))


def _load_boxes(record: Record, files: Files) -> list[Box]:
    if not record.has("boxes"):
        return []
    return read_boxes(record.assets["boxes"], files, where=f"sample {record.id}: boxes")


def _load_labels(
    record: Record, files: Files, mask: LabelMap, boxes: list[Box]
) -> dict[int, str] | None:
    """Classes of the instances: by `boxes`, else by `labels` unless those name semantic classes."""
    if any(box.label is not None for box in boxes):
        return label_instances(mask, boxes)
    if record.has("labels") and not record.has("semantic"):
        where = f"sample {record.id}: labels"
        return read_names(record.assets["labels"], files, where=where)
    return None


def _complete(
    values: Mapping[int, Any] | None,
    segments: tuple[list[int], list[int]],
    what: str,
    sample: Sample,
) -> Mapping[int, Any] | None:
    """The values, where they cover the segments left in the mask, and no other than those drawn."""
    ids, drawn = segments
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise ModelError(
            f"sample {sample.id}: {what}s are {kind_of(values)}; a mapping from segment id "
            "was expected"
        )
    missing = [str(i) for i in ids if i not in values]
    if missing:
        raise ModelError(
            f"sample {sample.id}: segments without a {what}: {first_few(missing)}",
            hint=f"give every segment of the mask a {what}, or none",
        )
    strange = [str(i) for i in values if i not in set(drawn)]
    if strange:
        raise ModelError(
            f"sample {sample.id}: a {what} for segments that the mask does not hold: "
            f"{first_few(strange)}",
            hint="ids are those in the mask; a picture that was resized with interpolation, saved "
            "in 8 bits or read in another channel order holds others",
        )
    return values


def _score(value: Any, segment: int, sample: Sample) -> float:
    try:
        score = float(value)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"sample {sample.id}: the score of segment {segment} is {kind_of(value)}"
        ) from error
    if not math.isfinite(score):
        raise ModelError(f"sample {sample.id}: the score of segment {segment} is {score}")
    return score


def _label(value: Any, segment: int, sample: Sample) -> str:
    if not isinstance(value, str) or not value or _UNSTORABLE.search(value):
        raise ModelError(
            f"sample {sample.id}: the label of segment {segment} is {value!r}; a text was expected"
        )
    return value
