"""The published simple tracking evaluation of one sequence: greedy matches in the order given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rpx_core.ranking.criteria import reaches
from rpx_detection.boxes import pairwise_iou
from rpx_detection.tracking.sums import Count
from rpx_detection.tracking.types import Tracklet


@dataclass(frozen=True, eq=False)
class GreedySums:
    """Counts of a sequence; adding the fields pools sequences."""

    truths: Count
    predictions: Count
    matched: Count
    switches: Count


def measure_greedy(
    truths: Sequence[Sequence[Tracklet]], predictions: Sequence[Sequence[Tracklet]], min_iou: float
) -> GreedySums:
    """Give each predicted box, in the order given, the free truth box that it overlaps most.

    Of equal overlaps the first truth box is taken. A switch is a predicted track that matches
    another truth track than the last time it matched one.
    """
    last: dict[str, str] = {}
    matched = switches = 0
    for truth, prediction in zip(truths, predictions, strict=True):
        for owner, name in _match(truth, prediction, min_iou):
            matched += 1
            switches += last.get(owner, name) != name
            last[owner] = name
    return GreedySums(
        truths=sum(map(len, truths)),
        predictions=sum(map(len, predictions)),
        matched=matched,
        switches=switches,
    )


def summarize_greedy(sums: GreedySums) -> dict[str, float | None]:
    """The numbers of one sequence or of a sum; None where there is nothing to divide by."""
    truths, matched, switches = int(sums.truths), int(sums.matched), int(sums.switches)
    missed, false = truths - matched, int(sums.predictions) - matched
    boxes = truths + int(sums.predictions)
    mota = max(-1.0, 1 - (false + missed + switches) / truths) if truths else None
    return {
        "mota": mota,
        "detection_f1": 2 * matched / boxes if boxes else None,
        "fp": false,
        "fn": missed,
        "idsw": switches,
    }


def _match(
    truth: Sequence[Tracklet], prediction: Sequence[Tracklet], min_iou: float
) -> list[tuple[str, str]]:
    """(predicted track, truth track) of each match of one frame."""
    if not truth or not prediction:
        return []
    iou = pairwise_iou(
        np.concatenate([track.boxes for track in prediction]),
        np.concatenate([track.boxes for track in truth]),
    )
    matches = []
    for row, track in zip(iou, prediction, strict=True):
        best = int(row.argmax())
        if reaches(row[best], min_iou):
            matches.append((track.track_id, truth[best].track_id))
            iou[:, best] = 0
    return matches
