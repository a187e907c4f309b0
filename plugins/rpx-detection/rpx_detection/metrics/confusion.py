"""Whether a detector finds the wrong places or gives the wrong names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import CountTable, Output, ResultMap, Sample, Unit
from rpx_core.state import Cat
from rpx_detection.confusion import confusion_matrix, pair_by_place
from rpx_detection.evidence import check_lengths
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction


class DetectionConfusionOptions(BaseModel):
    """`iou` from which two boxes mean the same place, and the `score` from which one counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    iou: Annotated[float, Field(gt=0, le=1)] = 0.5
    score: Annotated[float, Field(allow_inf_nan=False)] | None = None


@dataclass(frozen=True, eq=False)
class Answers:
    """The label of each object, the one it was given, and whether it was given any.

    `spurious` are the labels of the detections that stand where no object is.
    """

    objects: Cat
    answers: Cat
    answered: Cat
    spurious: Cat


def _share(better: Literal["higher", "lower"], summary: str) -> Output:
    best, worst = (1.0, 0.0) if better == "higher" else (0.0, 1.0)
    return Output(better=better, best=best, worst=worst, headline="pooled", summary=summary)


class DetectionConfusion:
    """Objects and detections paired by place, whatever their labels; then the labels compared.

    Pairs go one to one from the largest IoU down, while it is at least `iou`. label_accuracy is the
    share of paired objects whose detection has their label; of all objects, confused are paired
    with another label, missed are not paired, and the rest is right; spurious is the share of
    detections that are not paired. Boxes are (N, 4) x0, y0, x1, y1 in pixels. All are shares, 0 to
    1; of label_accuracy higher is better, of the others lower.

    label_accuracy is undefined without pairs, confused and missed without objects, spurious without
    detections. Ignored objects and crowds, and detections on them, do not count. Raises MetricError
    where boxes, scores and labels are not equally many. `pooled` (the headline) counts over all
    images, `sample` averages images. Reports show the matrix behind label_accuracy, with a column
    of missed objects and a row of spurious detections. Source: the confusion matrix of any text on
    classification; the pairing follows no paper.

    Trap: without a `score` every detection takes part, and one that repeats an object is spurious.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = Answers
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "label_accuracy": _share("higher", "paired objects that got their own label"),
            "confused": _share("lower", "objects that got another label"),
            "missed": _share("lower", "objects where nothing was detected"),
            "spurious": _share("lower", "detections where no object is"),
        }
    )

    def __init__(self, options: DetectionConfusionOptions) -> None:
        self._iou = options.iou
        self._score = -math.inf if options.score is None else options.score

    def measure(
        self, sample: Sample, truth: DetectionGroundTruth, prediction: DetectionPrediction
    ) -> Answers:
        """The labels of one image's objects, true and given."""
        check_lengths(sample, truth, prediction)
        pairing = pair_by_place(truth, prediction, self._iou, self._score)
        answered = pairing.partners >= 0
        given = np.zeros(len(answered), pairing.detections.dtype)
        given[answered] = pairing.detections[pairing.partners[answered]]
        return Answers(
            objects=pairing.objects,
            answers=given,
            answered=answered,
            spurious=np.delete(pairing.detections, pairing.partners[answered]),
        )

    def result(self, state: Answers) -> ResultMap:
        """The shares of one image, or of all images together."""
        objects, paired = len(state.objects), int(np.count_nonzero(state.answered))
        right = int(np.count_nonzero(state.answered & (state.objects == state.answers)))
        spurious = len(state.spurious)
        detections = paired + spurious
        return {
            "label_accuracy": right / paired if paired else None,
            "confused": (paired - right) / objects if objects else None,
            "missed": (objects - paired) / objects if objects else None,
            "spurious": spurious / detections if detections else None,
        }

    def tables(self, state: Answers) -> Mapping[str, CountTable]:
        """Objects by their label and the one they were given; detections of nothing in a last row.

        Undetected objects are in the last column.
        """
        classes, counts = confusion_matrix(
            state.objects, state.answers, state.answered, state.spurious
        )
        return {
            "label_accuracy": CountTable(
                caption="Confusion of classes",
                row_axis="true class",
                column_axis="predicted class",
                rows=[*classes, "(no object)"],
                columns=[*classes, "(not found)"],
                counts=counts,
            )
        }
