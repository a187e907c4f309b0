"""HOTA: detection, association and localisation of tracks in one number, and apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Frame, Output, ResultMap, Unit
from rpx_core.outputs import count, share
from rpx_detection.tracking.hota import HotaSums, measure_hota, summarize_hota
from rpx_detection.tracking.metrics.options import TrackingOptions, measure_classes
from rpx_detection.tracking.sums import average_classes, split_classes

_COUNT = "sequences_without_match"


class Hota:
    """Higher order tracking accuracy, at 19 IoU thresholds a = 0.05, 0.10, ... 0.95.

    Boxes are x0, y0, x1, y1 in pixels. Each frame is matched once, one to one, so that the sum of
    IoU times the fit of the two whole tracks is largest; at a, matches with IoU >= a are true
    positives (TP), what is left of truth and prediction FN and FP. A match c of truth track g and
    predicted track p, matched n times at a, has A(c) = n / (|g| + |p| - n). At each a:

    deta TP / (TP + FN + FP) · detre TP / (TP + FN) · detpr TP / (TP + FP) · assa mean of A(c) over
    TP, assre of n / |g|, asspr of n / |p| · loca mean IoU of TP · hota √(deta assa) · owta
    √(detre assa); each output is the mean over the 19 thresholds. hota_50 is hota at a = 0.5;
    hota_0, loca_0 and their product hotaloca_0 are at a = 0.05. All from 0 to 1, higher is better.
    sequences_without_match counts sequences with truth that have no match at any threshold.

    `pooled` adds TP, FN, FP and the sums behind assa and loca over sequences before dividing: it is
    TrackEval's COMBINED. `sample` is the mean over sequences. Undefined: detre and owta without
    truth, detpr without predictions, deta and hota without either, assa, assre, asspr and loca
    without a match at any threshold. Raises MetricError for a track without a label where `classes`
    are given.

    Source: Luiten et al., HOTA, IJCV 2021; numbers equal to TrackEval 1.3.0. Traps: at a threshold
    without a match, assa counts 0 and loca 1, as there. A sequence where nothing is matched lowers
    pooled deta but not pooled assa: read sequences_without_match and the mean over sequences too.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SEQUENCE
    State: ClassVar[type] = HotaSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "hota": share("geometric mean of detection and association accuracy"),
            "deta": share("detection accuracy: TP / (TP + FN + FP)"),
            "assa": share("association accuracy: overlap of matched tracks"),
            "loca": share("mean IoU of matches"),
            "detre": share("detection recall"),
            "detpr": share("detection precision"),
            "assre": share("association recall: share of the truth track that is matched"),
            "asspr": share("association precision: share of the predicted track that is matched"),
            "owta": share("HOTA with detection recall: false tracks are free"),
            "hota_50": share("HOTA at IoU 0.5"),
            "hota_0": share("HOTA at IoU 0.05"),
            "loca_0": share("mean IoU of matches at IoU 0.05"),
            "hotaloca_0": share("product of hota_0 and loca_0"),
            _COUNT: count(
                "sequences with truth and not a single match", "lower", aggregates=("pooled",)
            ),
        }
    )

    def __init__(self, options: TrackingOptions) -> None:
        self._options = options

    def measure(self, frames: Sequence[Frame]) -> HotaSums | None:
        """Sums over one sequence, for each class."""
        return measure_classes(frames, self._options, measure_hota)

    def result(self, state: HotaSums) -> ResultMap:
        """The outputs of one sequence, or of the pooled matches of many."""
        scores = [
            {**summarize_hota(part), _COUNT: float(part.unmatched_sequences)}
            for part in split_classes(state)
        ]
        return average_classes(scores, frozenset({_COUNT}))
