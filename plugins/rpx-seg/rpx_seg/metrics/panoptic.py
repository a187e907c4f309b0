"""Panoptic quality of instances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.outputs import output_name, share
from rpx_core.state import Combine
from rpx_seg.classes import ClassOptions, class_names, judged_mask
from rpx_seg.overlaps import overlap_segments
from rpx_seg.panoptic import match_segments, quality
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

Counted = Annotated[NDArray[np.int64], Combine.CAT]


@dataclass(frozen=True, eq=False)
class PanopticCounts:
    """Per class of an image: its name, matched, missed and invented segments, summed IoU."""

    classes: Annotated[NDArray[np.str_], Combine.CAT]
    matched: Counted
    missed: Counted
    invented: Counted
    iou: Annotated[NDArray[np.float64], Combine.CAT]


class PanopticQuality:
    """How many segments are found, and how well those fit.

    A true and a predicted segment match (TP) when their IoU exceeds 0.5, strictly, which at most
    one partner can. FP are predicted segments without partner, FN true ones. PQ = Σ IoU / (TP +
    FP/2 + FN/2) = SQ · RQ, with SQ the mean IoU of matches and RQ the F1 of finding. 0 to 1, higher
    is better. Void counts in no union, and an unmatched prediction with more than half of its area
    on void is no FP. Masks are (H, W) ids; background is no segment, and not void: predictions on
    it are false.

    By default all segments are of one class. With `by_class` only segments of equal class match,
    and pq, sq, rq are means over the classes that occur on either side, SQ being 0 for a class
    without a match; `classes` adds pq_<class>. Undefined without segments; SQ of one class also
    without a match. `pooled` (the headline, as published) counts over all images; `sample` averages
    images. Raises MetricError for a segment without a class where `by_class` needs one. Source:
    Kirillov et al. 2019, panopticapi.

    Trap: a segment that fits with IoU 0.5 costs two errors, one with 0.51 none; read SQ beside.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = PanopticCounts

    def __init__(self, options: ClassOptions) -> None:
        self._options = options
        self.outputs: Mapping[str, Output] = MappingProxyType(
            {
                "pq": share("panoptic quality: SQ · RQ"),
                "sq": share("mean IoU of matched segments"),
                "rq": share("F1 of finding segments at IoU above 0.5"),
                **{
                    output_name("pq", name): share(f"panoptic quality of {name}")
                    for name in options.classes
                },
            }
        )

    def measure(
        self, sample: Sample, truth: SegmentationGroundTruth, prediction: SegmentationPrediction
    ) -> PanopticCounts | None:
        """Counts per class of one image, or None where nothing is counted."""
        overlaps = overlap_segments(judged_mask(truth, self._options), prediction.mask)
        true = class_names(truth.labels, overlaps.truth_ids, self._options, sample)
        predicted = class_names(prediction.labels, overlaps.prediction_ids, self._options, sample)
        allowed = true[overlaps.rows] == predicted[overlaps.columns]
        matches = match_segments(overlaps, allowed)
        owners = (true[matches.rows], true[matches.missed], predicted[matches.false])
        classes = np.unique(np.concatenate(owners))
        if not classes.size:
            return None
        matched, missed, invented = (
            np.array([np.count_nonzero(owner == name) for name in classes], np.int64)
            for owner in owners
        )
        iou = [math.fsum(matches.iou[owners[0] == name]) for name in classes]
        return PanopticCounts(classes, matched, missed, invented, np.array(iou, np.float64))

    def result(self, state: PanopticCounts) -> ResultMap:
        """The outputs of one image, or of the pooled segments of many."""
        by_class = {
            str(name): quality(
                math.fsum(state.iou[of_class]),
                int(state.matched[of_class].sum()),
                int(state.missed[of_class].sum()),
                int(state.invented[of_class].sum()),
            )
            for name in np.unique(state.classes)
            for of_class in [state.classes == name]
        }
        values = {name: _mean([found[name] for found in by_class.values()]) for name in _NAMES}
        if self._options.by_class and by_class:
            # As published: a class without a match has no fit at all.
            values["sq"] = math.fsum(found["sq"] or 0.0 for found in by_class.values()) / len(
                by_class
            )
        for name in self._options.classes:
            values[output_name("pq", name)] = by_class.get(name, _NONE)["pq"]
        return values


_NAMES = ("pq", "sq", "rq")
_NONE: Mapping[str, float | None] = MappingProxyType(dict.fromkeys(_NAMES))


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
