"""CLEAR MOT: accuracy and precision, identity switches, fragments, and how long tracks last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Better, Frame, Output, ResultMap, Unit
from rpx_core.outputs import count
from rpx_detection.tracking.clear import ClearSums, measure_clear, summarize_clear
from rpx_detection.tracking.metrics.options import MatchingOptions, measure_classes
from rpx_detection.tracking.sums import average_classes, split_classes


def _share(better: Better | None, summary: str, worst: float | None = 0.0) -> Output:
    best = None if better is None else 1.0 if better == "higher" else 0.0
    end = 1.0 if better == "lower" else worst
    return Output(better=better, best=best, worst=end, headline="pooled", summary=summary)


_COUNTS: Mapping[str, Output] = MappingProxyType(
    {
        "idsw": count("identity switches", "lower"),
        # Not 0 for the truth itself where a truth track has a gap.
        "frag": replace(count("times that a truth track is matched again", "lower"), best=None),
        "mt": count("truth tracks matched for more than 80 % of their length", "higher"),
        "pt": count("truth tracks matched for 20 to 80 %"),
        "ml": count("truth tracks matched for less than 20 %", "lower"),
        "tp": count("matched boxes", "higher"),
        "fp": count("predicted boxes without a match", "lower"),
        "fn": count("truth boxes without a match", "lower"),
    }
)


class Clear:
    """CLEAR MOT at one IoU threshold, `min_iou` (0.5).

    Boxes are x0, y0, x1, y1 in pixels. Each frame is matched one to one: first as many pairs as
    possible stay together that were matched in the frame before and still reach the threshold, then
    the sum of IoU is largest. TP are matches, FN and FP truth and predicted boxes without one, GT
    all truth boxes. A match is an identity switch (IDSW) when the last match of its truth track,
    however long ago, was with another predicted track.

    mota 1 - (FN + FP + IDSW) / GT · moda the same without IDSW · motal with log10(IDSW) in its
    place · smota (sum of IoU - FP - IDSW) / GT: 1 is perfect, no lower end. motp mean IoU of TP, a
    similarity: higher is better · recall TP / GT · precision TP / (TP + FP) · f1 2 TP / (2 TP + FN
    + FP) · mt, pt, ml truth tracks matched for more than 80 %, 20 to 80 %, less than 20 % of their
    length, and as shares of all (mt_ratio ...) · frag times that a truth track is matched again
    after frames in which it was not, be it missed or not there · fp_per_frame.

    `pooled` adds counts over sequences before dividing: TrackEval's COMBINED. Undefined where
    there is nothing to divide by: mota, moda, motal, smota, recall and the track shares without
    truth, motp without a match, precision without predictions; the counts still pool.
    Raises MetricError for a track without a label where `classes` are given.

    Source: Bernardin and Stiefelhagen 2008; numbers equal to TrackEval 1.3.0. Traps: MOTP is a
    distance elsewhere. MOTA mostly measures detection; read idf1 and assa beside it. A frame in
    which either side has no box breaks no match: what was matched before it still stays together.
    TrackEval forgets the frames of sequences without truth or predictions in FP per frame; here
    they count.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SEQUENCE
    State: ClassVar[type] = ClearSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "mota": _share("higher", "1 - (FN + FP + IDSW) / GT", worst=None),
            "motp": _share("higher", "mean IoU of matches"),
            "moda": _share("higher", "1 - (FN + FP) / GT", worst=None),
            "smota": _share("higher", "MOTA with IoU in place of matches", worst=None),
            "motal": _share("higher", "MOTA with log10(IDSW)", worst=None),
            "recall": _share("higher", "matched truth boxes"),
            "precision": _share("higher", "matched predicted boxes"),
            "f1": _share("higher", "harmonic mean of precision and recall"),
            "fp_per_frame": Output(
                better="lower", best=0.0, headline="pooled", summary="false boxes per frame"
            ),
            "mt_ratio": _share("higher", "mostly tracked truth tracks"),
            "pt_ratio": _share(None, "partly tracked truth tracks"),
            "ml_ratio": _share("lower", "mostly lost truth tracks"),
            **_COUNTS,
        }
    )

    def __init__(self, options: MatchingOptions) -> None:
        self._options = options

    def measure(self, frames: Sequence[Frame]) -> ClearSums | None:
        """Sums over one sequence, for each class."""
        min_iou = self._options.min_iou
        return measure_classes(frames, self._options, lambda clip: measure_clear(clip, min_iou))

    def result(self, state: ClearSums) -> ResultMap:
        """The outputs of one sequence, or of the added counts of many."""
        scores = [summarize_clear(part) for part in split_classes(state)]
        return average_classes(scores, frozenset(_COUNTS))
