"""Mean IoU of segments after the best assignment, and the published one of raw ids."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.outputs import share
from rpx_core.state import Sum
from rpx_seg.assignment import assign
from rpx_seg.overlaps import overlap_segments
from rpx_seg.raw_iou import raw_id_miou
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction


@dataclass(frozen=True)
class MaskSums:
    """Segments of the truth and the prediction, the larger of the two counts, and summed IoU.

    `iou` is that of the assigned pairs; `raw` the published value of each of `images` images.
    """

    truths: Sum
    predictions: Sum
    places: Sum
    iou: Sum
    raw: Sum
    images: Sum


class MaskIou:
    """How well predicted segments fit the true ones, whatever their ids are.

    Predicted segments are assigned to true ones so that the sum of IoU is largest (Kuhn 1955).
    With T true and P predicted segments, miou = Σ IoU / max(T, P): a true segment without partner
    and a predicted one without partner both count as 0. miou_truth = Σ IoU / T asks only what
    became of the true segments. miou_raw_id is the published metric: the mean over the ids of the
    truth, 0 included, of IoU by equality of ids. All run from 0 to 1, higher is better.

    Masks are (H, W) ids, 0 for background, which is no segment. Void pixels are left out of truth
    and prediction, except by miou_raw_id. miou is undefined where there are no segments on either
    side, miou_truth without true ones, miou_raw_id where all is void: of an empty image without
    predictions it is 1, as the background fits. Raises MetricError for maps of unequal shapes.
    Source: Kuhn 1955 (assignment); the RPX benchmark toolkit (miou_raw_id). `sample` averages
    images, `pooled` all segments of all images.

    Traps: miou_raw_id is near 0 for perfect segments in another numbering, counts the background
    as an object, and says nothing about invented ones. miou_truth does not see those either: a
    prediction of many small pieces costs nothing there.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = MaskSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "miou": share(
                "IoU of assigned segments; missed and invented ones count as 0", headline="sample"
            ),
            "miou_truth": share(
                "IoU of assigned segments per true segment; invented ones are free",
                headline="sample",
            ),
            "miou_raw_id": share(
                "published: IoU by equality of raw ids, background included",
                headline="sample",
                aggregates=("sample", "sample_median"),
            ),
        }
    )

    def measure(
        self, sample: Sample, truth: SegmentationGroundTruth, prediction: SegmentationPrediction
    ) -> MaskSums | None:
        """Sums over the segments of one image, or None when all of it is void."""
        overlaps = overlap_segments(truth.mask, prediction.mask)
        truths = overlaps.truth_ids.size
        predictions = int(np.count_nonzero(overlaps.prediction_areas > overlaps.void_areas))
        raw = raw_id_miou(truth.mask, prediction.mask)
        if not truths and not predictions and raw is None:
            return None
        return MaskSums(
            truths=truths,
            predictions=predictions,
            places=max(truths, predictions),
            iou=math.fsum(overlaps.iou()[assign(overlaps)]),
            raw=raw or 0.0,
            images=int(raw is not None),
        )

    def result(self, state: MaskSums) -> ResultMap:
        """The outputs of one image, or of the pooled segments of many."""
        iou, truths, images = float(state.iou), int(state.truths), int(state.images)
        places = int(state.places)
        return {
            "miou": iou / places if places else None,
            "miou_truth": iou / truths if truths else None,
            "miou_raw_id": float(state.raw) / images if images else None,
        }
