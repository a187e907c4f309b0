"""What average precision is asked for: its options, and the table of means that they give."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.errors import ConfigError
from rpx_detection.average_precision import ClassScores, score_classes
from rpx_detection.criteria import COCO_CAPS, COCO_THRESHOLDS, SIZES, Criteria, SizeRanges
from rpx_detection.evidence import AreaSource
from rpx_detection.ranked_list import RankedList

Threshold = Annotated[float, Field(gt=0, le=1)]
Cap = Annotated[int, Field(ge=1, le=1_000_000)]
SizeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Area = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class DetectionAPOptions(BaseModel):
    """IoU `thresholds`, detections per class and image (`max_detections`), and size ranges.

    `sizes` are ranges of object area in square pixels, [low, high), where null has no end; `area`
    says whether that is the annotated area, where there is one, or the box's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    thresholds: Annotated[tuple[Threshold, ...], Field(min_length=1)] = COCO_THRESHOLDS
    max_detections: Annotated[tuple[Cap, ...], Field(min_length=1)] = COCO_CAPS
    sizes: dict[SizeName, tuple[Area, Area | None]] = Field(
        default={"small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, None)}
    )
    area: AreaSource = "annotation"

    def rules(self) -> Rules:
        """The rules that these options ask for; raises ConfigError for repeated ones."""
        thresholds, caps = sorted(set(self.thresholds)), sorted(set(self.max_detections))
        if len(thresholds) < len(self.thresholds) or len(caps) < len(self.max_detections):
            raise ConfigError("thresholds and max_detections must be distinct")
        bounds = [(low, np.inf if high is None else high) for low, high in self.sizes.values()]
        sizes = SizeRanges(("all", *self.sizes), (SIZES.bounds[0], *bounds))
        return Rules(Criteria(tuple(thresholds), sizes, caps[-1]), tuple(caps), self.area)


@dataclass(frozen=True)
class Rules:
    """How average precision is computed, and what of it is reported."""

    criteria: Criteria = field(default_factory=Criteria)
    caps: tuple[int, ...] = COCO_CAPS
    area: AreaSource = "annotation"

    def score(self, ranked: RankedList) -> ClassScores:
        """Precision and recall of every class."""
        group = self.criteria.ties == "geometry"
        return score_classes(ranked, len(self.criteria.thresholds), self.caps, group_ties=group)


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


def _span(thresholds: tuple[float, ...]) -> str:
    if len(thresholds) == 1:
        return f"IoU {thresholds[0]:g}"
    return f"mean over IoU {thresholds[0]:g} to {thresholds[-1]:g}"


def _percent(threshold: float) -> str:
    return re.sub(r"\W", "_", f"{100 * threshold:g}")
