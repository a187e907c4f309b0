"""Average precision and recall of detectors."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.outputs import count
from rpx_core.ranking.blocks import rank_in_blocks
from rpx_core.ranking.means import COCO_RULES, Rules, list_means, mean_outputs
from rpx_core.ranking.ranked_list import ImageBatch, RankedList, rank
from rpx_detection.evidence import AreaSource, image_batch, one_class
from rpx_detection.metrics.rules import DetectionAPOptions
from rpx_detection.types import DetectionGroundTruth, DetectionPrediction


class RankedMetric:
    """What the metrics of this family share: the ranked list, and the table of means over it."""

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = RankedList

    def __init__(self, rules: Rules, area: AreaSource = "annotation") -> None:
        self._rules = rules
        self._area = area
        self._means = list_means(rules)
        self.outputs: Mapping[str, Output] = MappingProxyType(
            mean_outputs(self._means) | dict(_COUNTS)
        )

    def measure(
        self, sample: Sample, truth: DetectionGroundTruth, prediction: DetectionPrediction
    ) -> RankedList:
        """The ranked list of one image."""
        return rank(self._batch(sample, truth, prediction), self._rules.criteria)

    def measure_images(self, batch: ImageBatch) -> RankedList:
        """The ranked list of many images: what joining those of `measure` gives."""
        return rank_in_blocks(batch, self._rules.criteria)

    def result(self, state: RankedList) -> ResultMap:
        """The outputs of one image, or of all images whose lists were joined."""
        scores = self._rules.score(state)
        counted = scores.objects[:, 0] > 0
        return {name: mean.of(scores) for name, mean in self._means.items()} | {
            "classes": int(np.count_nonzero(counted)),
            "tied": tied_share(state),
            "truncated": int(state.truncated),
        }

    def _batch(
        self, sample: Sample, truth: DetectionGroundTruth, prediction: DetectionPrediction
    ) -> ImageBatch:
        return image_batch(sample, truth, prediction, self._area)


class DetectionAP(RankedMetric):
    """Average precision and recall, which depend on nothing but boxes, labels and scores.

    Boxes are (N, 4) x0, y0, x1, y1 in pixels. For each class and IoU threshold the detections of
    all images are ranked by score and matched greedily (`rpx_core.ranking.matching`); precision at
    101 levels of recall is the best precision there or at a higher recall. ap is its mean over
    levels, thresholds (0.5 to 0.95 in steps of 0.05) and classes; ap50 and ap75 are at one
    threshold; ap_small, ap_medium and ap_large count the objects of one range of area. arN is the
    recall of the N best detections per class and image, a mean over thresholds and classes. All 0
    to 1, higher is better.

    Raises MetricError where boxes, scores and labels are not equally many. Undefined without
    objects; a class without objects has no part in any mean. Ignored objects
    and crowds are neither required nor penalised. Headline is the value over all images together:
    a mean of AP over images is another quantity and is not offered. Source: Lin et al. 2014 and
    the COCO evaluator, which `coco-detection` reproduces.

    Two things differ from it. Detections of equal score count together, as the threshold that
    takes one takes all, so that the order of a file cannot move the number; and an area of exactly
    32² belongs to one range, not two. tied is the share of detections that share their score with
    another of their class: where it is high, the ranking says little.

    Trap: `max_detections` is per class and image; truncated counts the images that it cut.
    """

    def __init__(self, options: DetectionAPOptions) -> None:
        super().__init__(options.rules(), options.area)


class ClassAgnosticAP(DetectionAP):
    """Average precision as `DetectionAP` has it, when labels do not matter.

    All objects and detections are of one class: a box in the right place is right, whatever it is
    called. `classes` is 1. 0 to 1, higher is better, undefined without objects; raises what
    `DetectionAP` does. Source: `useCats=0` of the COCO evaluator.

    Trap: this is not the mean over classes; frequent classes weigh more.
    """

    def _batch(
        self, sample: Sample, truth: DetectionGroundTruth, prediction: DetectionPrediction
    ) -> ImageBatch:
        return one_class(super()._batch(sample, truth, prediction))


class CocoDetection(RankedMetric):
    """The twelve numbers of the COCO evaluator, as pycocotools computes them.

    ap, ap50, ap75, ap_small, ap_medium, ap_large, ar1, ar10, ar100, ar_small, ar_medium, ar_large:
    what `DetectionAP` says, with COCO's own choices. Equal scores count one by one, in the order
    of sample ids and, within an image, of the prediction; objects of 32² and 96² are in two ranges;
    annotated areas decide on the range. 0 to 1, higher is better. Where COCO prints -1 for "no
    objects" the value is undefined. Raises what `DetectionAP` does.

    Source: Lin et al. 2014; pycocotools 2.0. Two of its defects are not kept: objects marked
    `ignore` are ignored (it overwrites the mark with `iscrowd`), and no id means "unmatched".

    Trap: with tied scores the number depends on the order of the predictions; see `tied`.
    """

    def __init__(self) -> None:
        super().__init__(COCO_RULES)


def tied_share(ranked: RankedList) -> float | None:
    """Share of detections whose score another detection of the same class has; None without any."""
    if not len(ranked.scores):
        return None
    labels = np.repeat(np.unique(ranked.classes, return_inverse=True)[1], ranked.detections)
    order = np.lexsort((ranked.scores, labels))
    same = np.diff(labels[order]) == 0
    same &= np.diff(ranked.scores[order]) == 0
    tied = np.zeros(len(ranked.scores), np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    return float(np.count_nonzero(tied) / len(tied))


_COUNTS: Mapping[str, Output] = MappingProxyType(
    {
        "classes": count(
            "classes that have objects; the others have no part in the means",
            aggregates=("pooled",),
        ),
        "tied": Output(
            better=None,
            headline="pooled",
            aggregates=("pooled",),
            plausible=(0.0, 0.5),
            doubt="equal scores rank nothing; give those of the model",
            summary="detections that share their score with another of their class",
        ),
        "truncated": count(
            "images in which the cap on detections left some out",
            unit="images",
            aggregates=("pooled",),
        ),
    }
)
