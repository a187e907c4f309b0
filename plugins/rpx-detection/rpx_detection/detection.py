"""The tasks `object_detection` and `open_vocab_detection`: boxes with labels and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from rpx_core.adapters import FORGOTTEN
from rpx_core.contracts import Frame, Picture, Sample, Task
from rpx_core.errors import ConfigError, ManifestError, ModelError, kind_of
from rpx_core.files import Files
from rpx_core.frames import image_of, load_sample
from rpx_core.records import Record
from rpx_detection.annotations import check_inside, load_categories, load_labels, load_truth
from rpx_detection.coco_results import CocoResults
from rpx_detection.labels import LabelRule, find_fault, normalise
from rpx_detection.predicted import StoredDetections, canonical_detections
from rpx_detection.prediction_files import read_detections, write_detections
from rpx_detection.preview import draw_detections
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction, DetectionQuery


class ObjectDetectionOptions(BaseModel):
    """How labels are compared, and which classes are evaluated.

    `labels` is `exact` or `casefold` (case, outer blanks and Unicode forms do not count). With a
    `vocabulary`, objects and detections of all other classes are left out, and models are told it
    in place of the data's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labels: LabelRule = "exact"
    vocabulary: tuple[str, ...] = ()


class OpenVocabDetectionOptions(ObjectDetectionOptions):
    """The same; class names are prompts here, so case and blanks do not count by default."""

    labels: LabelRule = "casefold"


class ObjectDetection(Task[DetectionGroundTruth, DetectionPrediction]):
    """Boxes of the objects in one image, each with a class and a score.

    Boxes are half-open xyxy pixels. Labels are text; two of them are the same class if they are
    equal after the normalisation that the options name, never by similarity.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".json"
    suffixes: ClassVar[tuple[str, ...]] = (".npz", ".txt")
    needs_vocabulary: ClassVar[bool] = False

    def __init__(self, options: ObjectDetectionOptions) -> None:
        self._rule = options.labels
        self.shared = CocoResults()
        fault = find_fault(options.vocabulary)
        if fault:
            raise ConfigError(f"options.vocabulary: {fault}")
        self._chosen = tuple(
            dict.fromkeys(normalise(label, self._rule) for label in options.vocabulary)
        )

    def load(self, record: Record, files: Files) -> Sample:
        """The image, its annotated objects, and the vocabulary as the query."""
        truth = load_truth(record, files, self._rule)
        vocabulary = self._chosen or load_labels(record, "vocabulary", self._rule) or ()
        if self._chosen:
            truth = _restrict_truth(truth, self._chosen)
        self._check_vocabulary(record, truth, vocabulary)
        query = DetectionQuery(vocabulary, load_categories(record, self._rule))
        sample = load_sample(record, files, ground_truth=truth, query=query)
        rgb = image_of(sample, "detection")
        check_inside(truth.boxes, rgb, f"sample {record.id}: boxes")
        return sample

    def complete(self, sample: Sample) -> Sample:
        """The query names the classes of the options, else of `metadata["vocabulary"]`, if any.

        Raises ManifestError where the task needs a vocabulary and nothing names one.
        """
        if sample.query is not None:
            return sample
        named = self._chosen or (sample.metadata or {}).get("vocabulary", ())
        vocabulary = tuple(normalise(label, self._rule) for label in named)
        if self.needs_vocabulary and not vocabulary:
            raise ManifestError(
                f"sample {sample.id}: no vocabulary says which classes to look for",
                hint='give the sample metadata={"vocabulary": ["cup", ...]}',
            )
        return replace(sample, query=DetectionQuery(vocabulary))

    def validate(self, prediction: Any, sample: Sample) -> DetectionPrediction:
        """Own float64 boxes and scores, and labels in canonical form.

        Boxes without area stay: they match nothing and count as false alarms.
        """
        if isinstance(prediction, DetectionPrediction):
            prediction = StoredDetections(
                prediction.boxes, prediction.scores, labels=prediction.labels
            )
        if not isinstance(prediction, StoredDetections):
            raise ModelError(
                f"sample {sample.id}: the prediction is {kind_of(prediction)}; a "
                "DetectionPrediction was expected",
                hint=FORGOTTEN if prediction is None else None,
            )
        found = canonical_detections(prediction, sample, self._rule, sample.query.vocabulary)
        return _restrict_prediction(found, self._chosen) if self._chosen else found

    def perfect_prediction(self, sample: Sample) -> DetectionPrediction:
        """The true boxes and labels, all equally sure."""
        truth: DetectionGroundTruth = sample.ground_truth
        return DetectionPrediction(
            truth.boxes.copy(), np.ones(len(truth.boxes)), tuple(truth.labels)
        )

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image, its objects, the detections, and the errors among both."""
        return draw_detections(frame.sample.rgb, frame.truth, frame.prediction)

    def write_prediction(self, prediction: DetectionPrediction) -> bytes:
        """A JSON object of boxes, scores and labels."""
        return write_detections(prediction)

    def read_prediction(self, data: bytes, name: str) -> StoredDetections:
        """Detections from JSON, a `.npz` with class indices, or a YOLO `.txt`."""
        return read_detections(data, name)

    def _check_vocabulary(
        self, record: Record, truth: DetectionGroundTruth, vocabulary: Sequence[str]
    ) -> None:
        if self.needs_vocabulary and not vocabulary:
            raise ManifestError(
                f"sample {record.id}: no vocabulary says which classes to look for",
                hint="add `vocabulary`, a list of class names, to the manifest's header, or "
                '--set options.vocabulary=\'["mug", "box"]\'',
            )
        unknown = sorted(set(truth.labels) - set(vocabulary))
        if vocabulary and unknown:
            folded = {normalise(label, "casefold") for label in vocabulary}
            only_case = self._rule == "exact" and normalise(unknown[0], "casefold") in folded
            raise ManifestError(
                f"sample {record.id}: label {unknown[0]!r} is not in the vocabulary of "
                f"{len(vocabulary)} classes",
                hint="only case or blanks differ: --set options.labels='\"casefold\"'"
                if only_case
                else "add it there, or remove its boxes",
            )


class OpenVocabDetection(ObjectDetection):
    """Detection of the classes that the query names, whatever the model was trained on.

    `sample.query.vocabulary` holds the class names in the form by which labels are compared.
    """

    needs_vocabulary: ClassVar[bool] = True


def _restrict_truth(truth: DetectionGroundTruth, vocabulary: Sequence[str]) -> DetectionGroundTruth:
    kept = np.array([label in vocabulary for label in truth.labels], np.bool_)
    optional = {
        name: None if (values := getattr(truth, name)) is None else values[kept]
        for name in ("crowd", "ignore", "area")
    }
    return DetectionGroundTruth(
        boxes=truth.boxes[kept],
        labels=tuple(label for label in truth.labels if label in vocabulary),
        negative_labels=truth.negative_labels,
        not_exhaustive_labels=truth.not_exhaustive_labels,
        **optional,
    )


def _restrict_prediction(
    prediction: DetectionPrediction, vocabulary: Sequence[str]
) -> DetectionPrediction:
    kept = np.array([label in vocabulary for label in prediction.labels], np.bool_)
    return DetectionPrediction(
        prediction.boxes[kept],
        prediction.scores[kept],
        tuple(label for label in prediction.labels if label in vocabulary),
    )
