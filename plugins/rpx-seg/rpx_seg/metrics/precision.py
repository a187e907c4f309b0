"""Average precision of scored segments."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.errors import ConfigError
from rpx_core.outputs import output_name
from rpx_core.ranking.means import COCO_RULES, Mean, list_means, mean_outputs, ranked_share
from rpx_core.ranking.ranked_list import RankedList, rank
from rpx_seg.classes import ClassOptions, class_names, judged_mask
from rpx_seg.overlaps import overlap_segments
from rpx_seg.segment_batch import ScoredSegments, segment_batch
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

_MEANS: Mapping[str, Mean] = MappingProxyType(list_means(COCO_RULES))


class MaskAveragePrecision:
    """COCO's average precision and recall of masks, equal to pycocotools.

    Masks are (H, W) ids. Predictions of an image are matched by falling score to the free true
    segment of largest IoU, at thresholds 0.50, 0.55, ..., 0.95 (reached or exceeded). AP is the
    mean over thresholds and 101 recalls of the precision envelope; ap50 and ap75 use one threshold;
    ap_small, ap_medium and ap_large count true segments of up to 32², up to 96², and more square
    pixels. ar1, ar10, ar100 are the mean over thresholds of the recall with that many predictions
    per image and class, and ar_small, ar_medium, ar_large those of sizes. 0 to 1, higher is better.

    Needs a score for every predicted segment: undefined for an image whose prediction has none
    (`scores` is None; an empty mapping says that nothing was found), and where no true segment
    counts. By default all segments are of one class; with `by_class` values are means
    over the classes of the truth, and `classes` adds ap_<class>. Void acts as a COCO crowd. Raises
    MetricError for a segment without a class where `by_class` needs one.
    `pooled` is the published number; a mean over images is not. Source: Lin et al. 2014,
    pycocotools.

    Traps: masks here do not overlap, so a model that scores overlapping proposals is judged by
    what is left after it has put one on top of another. Equal scores count one by one, in the order
    of sample ids and, in an image, of segment ids: with many ties, numbering moves the number.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = RankedList

    def __init__(self, options: ClassOptions) -> None:
        self._options = options
        by_class = {
            output_name("ap", name): ranked_share(f"AP of {name}") for name in options.classes
        }
        taken = sorted(by_class.keys() & _MEANS.keys())
        if taken:
            raise ConfigError(f"classes: {', '.join(taken)} is the output of a size already")
        self.outputs: Mapping[str, Output] = MappingProxyType(mean_outputs(_MEANS) | by_class)

    def measure(
        self, sample: Sample, truth: SegmentationGroundTruth, prediction: SegmentationPrediction
    ) -> RankedList | None:
        """The ranked list of one image, or None when its prediction has no scores."""
        if prediction.scores is None:
            return None
        overlaps = overlap_segments(judged_mask(truth, self._options), prediction.mask)
        ids = overlaps.prediction_ids
        segments = ScoredSegments(
            overlaps,
            class_names(truth.labels, overlaps.truth_ids, self._options, sample),
            class_names(prediction.labels, ids, self._options, sample),
            np.array([prediction.scores[i] for i in ids.tolist()], np.float64),
        )
        return rank(segment_batch(segments), COCO_RULES.criteria)

    def result(self, state: RankedList) -> ResultMap:
        """The outputs of one image, or of all images whose lists were joined."""
        scores = COCO_RULES.score(state)
        by_class = {
            output_name("ap", name): scores.precision_of(name) for name in self._options.classes
        }
        return {name: mean.of(scores) for name, mean in _MEANS.items()} | by_class
