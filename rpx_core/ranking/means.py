"""The table of means that average precision is reported as: COCO's twelve numbers, and others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rpx_core.contracts import Output
from rpx_core.outputs import share
from rpx_core.ranking.average_precision import ClassScores, score_classes
from rpx_core.ranking.criteria import COCO_CAPS, COCO_SIZES, COCO_THRESHOLDS, Criteria
from rpx_core.ranking.ranked_list import RankedList


@dataclass(frozen=True)
class Rules:
    """How average precision is computed, and below which caps recall is reported."""

    criteria: Criteria = field(default_factory=Criteria)
    caps: tuple[int, ...] = COCO_CAPS

    def score(self, ranked: RankedList) -> ClassScores:
        """Precision and recall of every class."""
        group = self.criteria.ties == "geometry"
        return score_classes(ranked, len(self.criteria.thresholds), self.caps, group_ties=group)


COCO_RULES = Rules(Criteria(sizes=COCO_SIZES, ties="given"))
"""The choices of the COCO evaluator."""


@dataclass(frozen=True)
class Mean:
    """One number of the table: which mean it is, and what it says."""

    kind: Literal["precision", "recall"]
    size: int
    chosen: tuple[int, ...]
    """Indices of thresholds, or the one of a cap."""
    summary: str

    def of(self, scores: ClassScores) -> float | None:
        """The number, or None without objects."""
        if self.kind == "precision":
            return scores.mean_precision(self.size, self.chosen)
        return scores.mean_recall(self.size, self.chosen[0])


def list_means(rules: Rules) -> dict[str, Mean]:
    """The means that are reported, by name, in COCO's order."""
    thresholds, names, caps = rules.criteria.thresholds, rules.criteria.sizes.names, rules.caps
    every = tuple(range(len(thresholds)))
    span = _span(thresholds)
    cap = f"at most {caps[-1]} detections per class and image"
    means = {"ap": Mean("precision", 0, every, f"average precision, {span}, {cap}")}
    named = (0.5, 0.75) if thresholds == COCO_THRESHOLDS else thresholds
    for index, threshold in enumerate(thresholds):
        if threshold in named:
            summary = f"average precision at IoU {threshold:g}, {cap}"
            means[f"ap{_percent(threshold)}"] = Mean("precision", 0, (index,), summary)
    for size, name in enumerate(names[1:], 1):
        summary = f"average precision of {name} objects, {span}, {cap}"
        means[f"ap_{name}"] = Mean("precision", size, every, summary)
    for index, number in enumerate(caps):
        summary = f"recall of the best {number} per class and image, {span}"
        means[f"ar{number}"] = Mean("recall", 0, (index,), summary)
    for size, name in enumerate(names[1:], 1):
        summary = f"recall of {name} objects, {span}, {cap}"
        means[f"ar_{name}"] = Mean("recall", size, (len(caps) - 1,), summary)
    return means


def mean_outputs(means: Mapping[str, Mean]) -> dict[str, Output]:
    """How to read the means. A mean of them over images is another quantity and not offered."""
    # A cap on detections keeps even the truth from being recalled where there are more objects.
    return {
        name: ranked_share(mean.summary, attained=mean.kind == "precision")
        for name, mean in means.items()
    }


def ranked_share(summary: str, *, attained: bool = True) -> Output:
    """A precision or recall over the ranked list of many images."""
    return share(summary, aggregates=("pooled", "group"), attained=attained)


def _span(thresholds: tuple[float, ...]) -> str:
    if len(thresholds) == 1:
        return f"IoU {thresholds[0]:g}"
    return f"mean over IoU {thresholds[0]:g} to {thresholds[-1]:g}"


def _percent(threshold: float) -> str:
    return re.sub(r"\W", "_", f"{100 * threshold:g}")
