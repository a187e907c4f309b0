"""Whether the best-scored box is what an expression refers to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.outputs import share
from rpx_core.ranking.criteria import reaches
from rpx_core.state import Sum
from rpx_detection.boxes import Boxes, pairwise_iou
from rpx_detection.types import VisualGroundingGroundTruth, VisualGroundingPrediction

THRESHOLDS: Mapping[str, float] = MappingProxyType({"acc25": 0.25, "acc50": 0.5, "acc75": 0.75})


@dataclass(frozen=True, eq=False)
class GroundingSums:
    """Sums over expressions, those that refer to something and those that do not apart.

    `hits` counts by threshold, in the order of `THRESHOLDS`.
    """

    expressions: Sum
    answered: Sum
    hits: Sum
    iou: Sum
    tied: Sum
    empty: Sum
    refused: Sum


class GroundingAccuracy:
    """How well the best-scored box of an expression overlaps what the expression refers to.

    Boxes are (N, 4) x0, y0, x1, y1 in pixels. The IoU of an expression is that of its best-scored
    box with the nearest of the boxes it refers to, 0 where nothing is answered. acc25, acc50,
    acc75: share of expressions whose IoU is at least 0.25, 0.5, 0.75; iou: its mean; answered:
    share of expressions that got a box. An expression that refers to nothing has no IoU; refusal is
    the share of those that got no box. All 0 to 1, higher is better. Each is undefined where there
    is no expression of its kind.

    Source: Acc@0.5 of RefCOCO (Yu et al. 2016, Mao et al. 2016) and no-target accuracy of gRefCOCO
    (Liu et al. 2023). Among equal best scores the box that comes first by its coordinates counts;
    tied is the share of answered expressions where that had to decide.

    Traps: the score ranks the boxes, not their order; a model that always answers has refusal 0
    and loses nothing in acc; of an expression that refers to several objects one is enough.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = GroundingSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "acc50": share("expressions with IoU 0.5 or more"),
            "acc25": share("expressions with IoU 0.25 or more"),
            "acc75": share("expressions with IoU 0.75 or more"),
            "iou": share("mean IoU"),
            "answered": share("expressions with a referent that got a box"),
            "refusal": share("expressions without a referent that got no box"),
            "tied": Output(
                better=None,
                headline="pooled",
                aggregates=("pooled", "sample"),
                plausible=(0.0, 0.5),
                doubt="equal scores choose no box; give those of the model",
                summary="answers whose best score two boxes share",
            ),
        }
    )

    def measure(
        self,
        sample: Sample,
        truth: VisualGroundingGroundTruth,
        prediction: VisualGroundingPrediction,
    ) -> GroundingSums:
        """Sums of one expression."""
        targets = np.asarray(truth.boxes, np.float64).reshape(-1, 4)
        best = best_boxes(prediction)
        overlaps = pairwise_iou(best[:1], targets).max(axis=1, initial=0.0)
        hits = [np.count_nonzero(reaches(overlaps, limit)) for limit in THRESHOLDS.values()]
        refers = len(targets) > 0
        return GroundingSums(
            expressions=int(refers),
            answered=int(refers and len(best) > 0),
            hits=np.array(hits),
            iou=overlaps.sum(),
            tied=int(refers and len(best) > 1),
            empty=int(not refers),
            refused=int(not refers and not len(best)),
        )

    def result(self, state: GroundingSums) -> ResultMap:
        """The shares of one expression, or of many."""
        count, answered, empty = int(state.expressions), int(state.answered), int(state.empty)
        hits = dict(zip(THRESHOLDS, np.asarray(state.hits).tolist(), strict=True))
        return {
            **{name: hits[name] / count if count else None for name in hits},
            "iou": float(state.iou) / count if count else None,
            "answered": answered / count if count else None,
            "refusal": int(state.refused) / empty if empty else None,
            "tied": int(state.tied) / answered if answered else None,
        }


def best_boxes(prediction: VisualGroundingPrediction) -> Boxes:
    """The different boxes that share the highest score, in the order of their coordinates."""
    boxes = np.asarray(prediction.boxes, np.float64).reshape(-1, 4)
    scores = np.asarray(prediction.scores, np.float64)
    return np.unique(boxes[scores == scores.max(initial=-np.inf)], axis=0)
