"""Precision, recall and F1 of detectors at a score threshold, and at the best one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Aggregate, Output, ResultMap, Sample, Unit
from rpx_core.outputs import count, share
from rpx_core.ranking.criteria import EVERY_SIZE, Criteria
from rpx_core.ranking.ranked_list import RankedList, rank
from rpx_detection.evidence import image_batch
from rpx_detection.operating_points import count_on_absent_classes, outcomes_of
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction

_POOLED: tuple[Aggregate, ...] = ("pooled",)


class DetectionF1Options(BaseModel):
    """`iou` from which a detection hits, and the `score` from which it counts (null: all do)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    iou: Annotated[float, Field(gt=0, le=1)] = 0.5
    score: Annotated[float, Field(allow_inf_nan=False)] | None = None


class DetectionF1:
    """Precision, recall and F1 over all objects of all images, whatever their class.

    Detections whose score is at least `score` are matched greedily from the highest score down, a
    class and image at a time, and hit from `iou` on (`rpx_core.ranking.matching`). With H hits, F
    false alarms and M missed objects: precision H / (H + F), recall H / (H + M), f1
    2H / (2H + F + M); 0 to 1, higher is better. best_f1 is the highest F1 that any score threshold
    gives, best_score that threshold, best_precision and best_recall what it gives.

    hits, false_alarms and misses are the counts; false_alarms_per_image their rate, also without
    any object; absent_class_alarms are those of classes that no image holds. Precision is undefined
    without detections, recall without objects, f1 without both; best_score and what it gives
    without a hit. Ignored objects, crowds and what matches them do not count. Raises MetricError
    where boxes, (N, 4) in pixels, scores and labels are not equally many. Source: any text on
    information retrieval; COCO's matching.

    Traps: the mean over images (`sample`) leaves out images where a share is undefined. best_f1
    chooses its threshold on the data it is measured on, which no deployed detector can. By default
    every detection counts: set `score` to the threshold that the robot uses.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = RankedList
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "precision": share("detections that are right"),
            "recall": share("objects that are found"),
            "f1": share("2 hits / (detections + objects)"),
            "best_f1": share("highest F1 of any score threshold"),
            "best_score": Output(
                better=None,
                headline="pooled",
                aggregates=("pooled",),
                summary="score threshold of the highest F1",
            ),
            "best_precision": share("precision at the score threshold of the highest F1"),
            "best_recall": share("recall at the score threshold of the highest F1"),
            "hits": count("objects that are found", "higher", aggregates=_POOLED),
            "false_alarms": count("detections that are wrong", "lower", aggregates=_POOLED),
            "misses": count("objects that are not found", "lower", aggregates=_POOLED),
            "false_alarms_per_image": count(
                "false alarms per image", "lower", unit="1/image", aggregates=_POOLED
            ),
            "absent_class_alarms": count(
                "false alarms of classes that no image holds", "lower", aggregates=_POOLED
            ),
        }
    )

    def __init__(self, options: DetectionF1Options) -> None:
        self._criteria = Criteria((options.iou,), EVERY_SIZE, cap=None)
        self._score = options.score

    def measure(
        self, sample: Sample, truth: DetectionGroundTruth, prediction: DetectionPrediction
    ) -> RankedList:
        """The ranked list of one image."""
        return rank(image_batch(sample, truth, prediction), self._criteria)

    def result(self, state: RankedList) -> ResultMap:
        """The outputs of one image, or of all images whose lists were joined."""
        outcomes = outcomes_of(state)
        counts = outcomes.at(self._score)
        threshold = outcomes.best_threshold()
        best = None if threshold is None else outcomes.at(threshold)
        alarms = outcomes.counted & ~outcomes.hits
        if self._score is not None:
            alarms &= outcomes.scores >= self._score
        return {
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
            "best_f1": best.f1 if best else 0.0 if counts.objects else None,
            "best_score": threshold,
            "best_precision": best.precision if best else None,
            "best_recall": best.recall if best else None,
            "hits": counts.hits,
            "false_alarms": counts.false_alarms,
            "misses": counts.objects - counts.hits,
            "false_alarms_per_image": counts.false_alarms / int(state.images),
            "absent_class_alarms": count_on_absent_classes(state, alarms),
        }
