"""The published simple tracking numbers, under names that say what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Frame, Output, ResultMap, Unit
from rpx_detection.tracking.greedy import GreedySums, measure_greedy, summarize_greedy


def _count(summary: str) -> Output:
    return Output(
        better="lower",
        best=0.0,
        headline="sample",
        aggregates=("pooled", "sample"),
        summary=summary,
    )


class Greedy:
    """The simple evaluation of the published RPX toolkit (0.2), for comparison with its numbers.

    Boxes are x0, y0, x1, y1 in pixels. In each frame every predicted box, in the order given, takes
    the free truth box that it overlaps most, by an IoU of at least 0.5. A switch is a predicted
    track that matches another truth track than the last time. mota 1 - (FP + FN + switches) / GT,
    cut off at -1 · detection_f1 2 TP / (2 TP + FP + FN), 0 to 1, which was published as `idf1`; 1
    is perfect, higher is better. Undefined without truth (mota), or without any box (detection_f1),
    where the published numbers are 1.

    Traps: the result depends on the order of the boxes, is not an optimal match, does not see a
    truth track change hands, and is blind to labels. For comparable numbers use `tracking-clear`
    and `tracking-identity`.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SEQUENCE
    State: ClassVar[type] = GreedySums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "mota": Output(
                better="higher", best=1.0, worst=-1.0, summary="published MOTA of greedy matches"
            ),
            "detection_f1": Output(
                better="higher", best=1.0, worst=0.0, summary="F1 of boxes, published as idf1"
            ),
            "fp": _count("predicted boxes without a match"),
            "fn": _count("truth boxes without a match"),
            "idsw": _count("predicted tracks that change their truth track"),
        }
    )

    def measure(self, frames: Sequence[Frame]) -> GreedySums:
        """Counts of one sequence."""
        return measure_greedy(
            [frame.truth.tracks for frame in frames],
            [frame.prediction.tracks for frame in frames],
            min_iou=0.5,
        )

    def result(self, state: GreedySums) -> ResultMap:
        """The outputs of one sequence, or of the added counts of many."""
        return summarize_greedy(state)
