"""Counts of hits and false alarms at score thresholds, from a ranked list of one IoU threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rpx_core.ranking.matching import Flags, Floats
from rpx_core.ranking.ranked_list import RankedList, unpack


@dataclass(frozen=True)
class Counts:
    """What a detector gets right and wrong over some images, all classes together."""

    hits: int
    false_alarms: int
    objects: int

    @property
    def precision(self) -> float | None:
        """Share of the detections that are right; None without detections."""
        detections = self.hits + self.false_alarms
        return self.hits / detections if detections else None

    @property
    def recall(self) -> float | None:
        """Share of the objects that are found; None without objects."""
        return self.hits / self.objects if self.objects else None

    @property
    def f1(self) -> float | None:
        """2 hits / (detections + objects); None when there is neither."""
        total = self.hits + self.false_alarms + self.objects
        return 2 * self.hits / total if total else None


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The detections of a ranked list: scores (N,), which hit, and which count at all."""

    scores: Floats
    hits: Flags
    counted: Flags
    objects: int

    def at(self, threshold: float | None) -> Counts:
        """Counts of the detections whose score is at least the threshold (None: all)."""
        chosen = self.counted & (self.scores >= (-np.inf if threshold is None else threshold))
        hits = int(np.count_nonzero(chosen & self.hits))
        return Counts(hits, int(np.count_nonzero(chosen)) - hits, self.objects)

    def best_threshold(self) -> float | None:
        """The score threshold of the highest F1, the highest such one; None without hits."""
        scores, hits = self.scores[self.counted], self.hits[self.counted]
        if not hits.any():
            return None
        order = np.argsort(-scores, kind="stable")
        scores, found = scores[order], np.cumsum(hits[order])
        # A threshold takes all detections of its score: only the last of equal ones is a point.
        ends = np.flatnonzero(np.append(np.diff(scores) != 0, True))
        f1 = 2 * found[ends] / (ends + 1 + self.objects)
        return float(scores[ends[np.argmax(f1)]])


def outcomes_of(ranked: RankedList) -> Outcomes:
    """The outcomes of all classes together, at the first threshold and size range."""
    return Outcomes(
        scores=ranked.scores,
        hits=unpack(ranked.hits, 1)[0],
        counted=~unpack(ranked.ignored, 1)[0],
        objects=int(ranked.objects[:, 0].sum()),
    )


def count_on_absent_classes(ranked: RankedList, chosen: Flags) -> int:
    """How many of the chosen detections are of a class that has no object in any image."""
    classes, labels = np.unique(ranked.classes, return_inverse=True)
    objects = np.bincount(labels, weights=ranked.objects[:, 0], minlength=len(classes))
    absent = np.repeat(objects[labels] == 0, ranked.detections)
    return int(np.count_nonzero(absent & chosen))
