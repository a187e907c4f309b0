"""Identity measures: how much of the boxes one fixed map between tracks explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Frame, Output, ResultMap, Unit
from rpx_core.outputs import count, share
from rpx_detection.tracking.identity import IdentitySums, measure_identity, summarize_identity
from rpx_detection.tracking.metrics.options import MatchingOptions, measure_classes
from rpx_detection.tracking.sums import average_classes, split_classes

_COUNTS: Mapping[str, Output] = MappingProxyType(
    {
        "idtp": count("boxes that the map of tracks explains", "higher"),
        "idfp": count("predicted boxes that it does not", "lower"),
        "idfn": count("truth boxes that it does not", "lower"),
    }
)


class Identity:
    """Identity F1, precision and recall at one IoU threshold, `min_iou` (0.5).

    Boxes are x0, y0, x1, y1 in pixels. Truth tracks are mapped one to one to predicted tracks over
    the whole sequence so that as many boxes as possible (IDTP) overlap their partner by at least
    the threshold; IDFN and IDFP are all other truth and predicted boxes.

    idf1 2 IDTP / (2 IDTP + IDFN + IDFP) · idp IDTP / (IDTP + IDFP) · idr IDTP / (IDTP + IDFN): 0 to
    1, higher is better. Undefined: idf1 without truth and predictions, idp without predictions, idr
    without truth. `pooled` adds the counts over sequences before dividing: TrackEval's COMBINED.
    Raises MetricError for a track without a label where `classes` are given.

    Source: Ristani et al., Performance Measures and a Data Set for Multi-Target, Multi-Camera
    Tracking, ECCVW 2016; numbers equal to TrackEval 1.3.0. Trap: the name IDF1 is elsewhere given
    to the F1 of detections, which never sees an identity; `tracking-greedy` has it as detection_f1.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SEQUENCE
    State: ClassVar[type] = IdentitySums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "idf1": share("identity F1"),
            "idp": share("identity precision"),
            "idr": share("identity recall"),
            **_COUNTS,
        }
    )

    def __init__(self, options: MatchingOptions) -> None:
        self._options = options

    def measure(self, frames: Sequence[Frame]) -> IdentitySums | None:
        """Sums over one sequence, for each class."""
        min_iou = self._options.min_iou
        return measure_classes(frames, self._options, lambda clip: measure_identity(clip, min_iou))

    def result(self, state: IdentitySums) -> ResultMap:
        """The outputs of one sequence, or of the added counts of many."""
        scores = [summarize_identity(part) for part in split_classes(state)]
        return average_classes(scores, frozenset(_COUNTS))
