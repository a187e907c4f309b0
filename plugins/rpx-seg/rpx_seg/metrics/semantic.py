"""IoU and its relatives from the confusion matrix of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from rpx_core.contracts import CountTable, Output, ResultMap, Sample, Unit
from rpx_core.outputs import count, output_name, share
from rpx_core.state import Combine
from rpx_seg import confusion
from rpx_seg.classes import ClassName, check_names
from rpx_seg.confusion import Confusion, mean_over
from rpx_seg.overlaps import LabelPairs, Vector, count_pairs
from rpx_seg.taxonomy import ClassId
from rpx_seg.types import SemanticGroundTruth, SemanticPrediction

Column = Annotated[NDArray[np.int64], Combine.CAT]


class SemanticIouOptions(BaseModel):
    """`classes` are ids by name: each gets outputs of its own, and together they make miou_all.

    Ids in `exclude` are left out of every mean over classes; their pixels still count as errors
    of other classes. To leave pixels out, see the task's option `ignore`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    classes: dict[ClassName, ClassId] = Field(default_factory=dict)
    exclude: tuple[ClassId, ...] = ()

    @model_validator(mode="after")
    def _names_differ(self) -> SemanticIouOptions:
        check_names(self.classes)
        return self


@dataclass(frozen=True, eq=False)
class ConfusionCells:
    """The cells of a confusion matrix that are not zero: true and predicted class, pixels.

    -1 is void as true class, and no answer as predicted one. Cells may repeat: they add up. `void`
    are the ids that the task turned into -1, and `names` those of `named`; they may repeat too.
    """

    truth: Column
    prediction: Column
    pixels: Column
    void: Column
    named: Column
    names: Annotated[NDArray[np.str_], Combine.CAT]


class SemanticIou:
    """IoU per class and its means, from the confusion matrix of (H, W) class maps.

    With TP, FP, FN the pixels of a class: IoU = TP / (TP + FP + FN), Dice = 2 TP / (2 TP + FP +
    FN), recall = TP / (TP + FN), precision = TP / (TP + FP).

    miou is the mean IoU over the classes in the truth or the prediction, so an invented class
    costs; miou_truth that over the classes in the truth alone; miou_all, where `classes` are given,
    that over all of them but the ignored ones, 0 for one that occurs nowhere. dice is the mean over
    the classes of miou, mean_accuracy the mean recall over those in the truth, pixel_accuracy the
    share of right pixels, fwiou the IoU weighted by true pixels. 0 to 1, higher is better. classes
    is how many are behind miou, pixels and ignored_pixels those judged and void.

    Void pixels are left out altogether; a pixel without answer is wrong, but no false positive.
    Raises MetricError for more classes than a table holds. Source: Everingham et al. 2010 (IoU per
    class), Long et al. 2015 (the means). A class that occurs on neither side is undefined, never 0
    or 1, except in miou_all. `pooled` (the headline, and what benchmarks publish) adds up the
    pixels of all images; `sample` averages images, in which most classes are missing.

    Traps: the three means differ, so compare equal names only. Ignoring the pixels of a class
    instead of excluding it from the mean hides every false positive on it.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = ConfusionCells

    def __init__(self, options: SemanticIouOptions) -> None:
        self._classes = dict(options.classes)
        self._excluded = np.array(options.exclude, np.int64)
        self.outputs: Mapping[str, Output] = MappingProxyType(
            {**_OUTPUTS, **_class_outputs(self._classes)}
        )

    def measure(
        self, sample: Sample, truth: SemanticGroundTruth, prediction: SemanticPrediction
    ) -> ConfusionCells | None:
        """Counts of one image, or None when all of it is void."""
        pairs = count_pairs(truth.mask, prediction.mask)
        if pairs.first[-1] < 0:
            return None
        void = np.array(sorted(truth.void), np.int64)
        used = np.unique(np.concatenate([pairs.first, pairs.second])).tolist()
        known = {i: truth.classes[i] for i in used if i in truth.classes}
        return ConfusionCells(
            pairs.first,
            pairs.second,
            pairs.pixels,
            void,
            named=np.array(list(known), np.int64),
            names=np.array(list(known.values()), np.str_),
        )

    def result(self, state: ConfusionCells) -> ResultMap:
        """The outputs of one image, or of the pooled pixels of many."""
        pairs = LabelPairs(state.truth, state.prediction, state.pixels)
        table = confusion.tabulate(pairs, set(self._classes.values()))
        iou, recall = confusion.iou(table), confusion.recall(table)
        averaged = ~np.isin(table.classes, self._excluded)
        values: dict[str, float | None] = {
            "miou": mean_over(iou, averaged),
            "miou_truth": mean_over(iou, averaged & (table.true > 0)),
            "dice": mean_over(confusion.dice(table), averaged),
            "mean_accuracy": mean_over(recall, averaged),
            "pixel_accuracy": confusion.pixel_accuracy(table),
            "fwiou": confusion.frequency_weighted_iou(table),
            "classes": int(np.count_nonzero(averaged & ~np.isnan(iou))),
            "pixels": int(table.true.sum()),
            "ignored_pixels": table.ignored,
        }
        if self._classes:
            listed = np.isin(table.classes, list(self._classes.values()))
            judged = listed & ~np.isin(table.classes, state.void)
            values["miou_all"] = mean_over(np.nan_to_num(iou), averaged & judged)
        return values | self._by_class(table, iou, recall)

    def tables(self, state: ConfusionCells) -> Mapping[str, CountTable]:
        """Judged pixels by their true class and the predicted one; no answer in a last column."""
        pairs = LabelPairs(state.truth, state.prediction, state.pixels)
        table = confusion.tabulate(pairs)
        names = dict(zip(state.named.tolist(), state.names.tolist(), strict=True))
        names |= {i: name for name, i in self._classes.items()}
        classes = [str(names.get(i, i)) for i in table.classes.tolist()]
        lost = table.abstained[:, None]
        return {
            "pixel_accuracy": CountTable(
                caption="Confusion of classes, in pixels",
                row_axis="true class",
                column_axis="predicted class",
                rows=classes,
                columns=[*classes, "(no answer)"] if lost.any() else classes,
                counts=np.hstack([table.matrix, lost]) if lost.any() else table.matrix,
            )
        }

    def _by_class(self, table: Confusion, iou: Vector, recall: Vector) -> dict[str, float | None]:
        columns = {"iou": iou, "recall": recall, "precision": confusion.precision(table)}
        return {
            output_name(metric, name): None if np.isnan(value) else float(value)
            for name, class_id in self._classes.items()
            for metric, column in columns.items()
            for value in [column[np.searchsorted(table.classes, class_id)]]
        }


def _class_outputs(classes: Mapping[str, int]) -> dict[str, Output]:
    outputs = {}
    if classes:
        outputs["miou_all"] = share("mean IoU over all listed classes, 0 for absent ones")
    for name in classes:
        outputs[output_name("iou", name)] = share(f"IoU of {name}")
        outputs[output_name("recall", name)] = share(f"{name} pixels that are found")
        outputs[output_name("precision", name)] = share(f"pixels called {name} that are")
    return outputs


_OUTPUTS: Mapping[str, Output] = MappingProxyType(
    {
        "miou": share("mean IoU over classes in truth or prediction"),
        "miou_truth": share("mean IoU over classes in the truth"),
        "dice": share("mean Dice over classes in truth or prediction"),
        "mean_accuracy": share("mean over true classes of the pixels found"),
        "pixel_accuracy": share("pixels that are right"),
        "fwiou": share("IoU weighted by the true pixels of each class"),
        "classes": count("classes behind miou"),
        "pixels": count("judged pixels", unit="px"),
        "ignored_pixels": count("void pixels", unit="px"),
    }
)
