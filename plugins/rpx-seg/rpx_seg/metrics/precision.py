"""Average precision of scored segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Output, ResultMap, Sample, Unit
from rpx_core.errors import ConfigError
from rpx_core.state import Combine
from rpx_seg.average_precision import (
    AREAS,
    LIMITS,
    THRESHOLDS,
    Candidates,
    Curve,
    match_candidates,
    trace_curve,
)
from rpx_seg.classes import ClassOptions, class_names, judged_mask, output_name
from rpx_seg.overlaps import SegmentOverlaps, Vector, overlap_segments
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

Names = Annotated[NDArray[np.str_], Combine.CAT]
Flags = Annotated[NDArray[np.bool_], Combine.CAT]


@dataclass(frozen=True, eq=False)
class ScoredMatches:
    """What became of each predicted segment, and which true ones count.

    Per prediction its class, score and rank in its image and class; `matched` and `ignored` are
    (predictions, areas, thresholds). Per true segment its class and `truth_ignored` (segments,
    areas).
    """

    classes: Names
    scores: Annotated[Vector, Combine.CAT]
    ranks: Annotated[NDArray[np.int64], Combine.CAT]
    matched: Flags
    ignored: Flags
    truth_classes: Names
    truth_ignored: Flags


_SIZES = tuple(AREAS)[1:]
_SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "ap": "average precision, mean over IoU 0.50 to 0.95",
        "ap50": "average precision at IoU 0.50",
        "ap75": "average precision at IoU 0.75",
        **{f"ap_{size}": f"average precision of {size} segments" for size in _SIZES},
        **{f"ar{limit}": f"recall of the best {limit} per class and image" for limit in LIMITS},
        **{f"ar_{size}": f"recall of {size} segments" for size in _SIZES},
    }
)


class MaskAveragePrecision:
    """COCO's average precision and recall of masks, equal to pycocotools.

    Predictions of an image are matched by falling score to the free true segment of largest IoU,
    at thresholds 0.50, 0.55, ..., 0.95 (reached or exceeded). AP is the mean over thresholds and
    101 recalls of the precision envelope; ap50 and ap75 use one threshold; ap_small, ap_medium and
    ap_large count true segments of up to 32², up to 96², and more square pixels. ar1, ar10, ar100
    are the mean over thresholds of the recall with that many predictions per image and class, and
    ar_small, ar_medium, ar_large those of sizes. 0 to 1, higher is better.

    Needs a score for every predicted segment: undefined for an image whose prediction has none
    (`scores` is None; an empty mapping says that nothing was found), and where no true segment
    counts. By default all segments are of one class; with `by_class` values are means
    over the classes of the truth, and `classes` adds ap_<class>. Void acts as a COCO crowd.
    `pooled` is the published number; a mean over images is not. Source: Lin et al. 2014,
    pycocotools.

    Traps: masks here do not overlap, so a model that scores overlapping proposals is judged by
    what is left after it has put one on top of another. Equal scores count one by one, in the order
    of sample ids and, in an image, of segment ids: with many ties, numbering moves the number.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = ScoredMatches

    def __init__(self, options: ClassOptions) -> None:
        self._options = options
        by_class = {output_name("ap", name): f"AP of {name}" for name in options.classes}
        taken = sorted(by_class.keys() & _SUMMARIES.keys())
        if taken:
            raise ConfigError(f"classes: {', '.join(taken)} is the output of a size already")
        self.outputs: Mapping[str, Output] = MappingProxyType(
            {
                name: Output(
                    better="higher",
                    best=1.0,
                    worst=0.0,
                    headline="pooled",
                    aggregates=("pooled", "group"),
                    summary=summary,
                )
                for name, summary in {**_SUMMARIES, **by_class}.items()
            }
        )

    def measure(
        self, sample: Sample, truth: SegmentationGroundTruth, prediction: SegmentationPrediction
    ) -> ScoredMatches | None:
        """Matches of one image, or None when its prediction has no scores."""
        if prediction.scores is None:
            return None
        overlaps = overlap_segments(judged_mask(truth, self._options), prediction.mask)
        ids = overlaps.prediction_ids
        scores = np.array([prediction.scores[i] for i in ids.tolist()], np.float64)
        true = class_names(truth.labels, overlaps.truth_ids, self._options, sample)
        predicted = class_names(prediction.labels, ids, self._options, sample)
        parts = [
            _match_class(overlaps, scores, true == name, predicted == name, str(name))
            for name in np.unique(np.concatenate([true, predicted]))
        ]
        return _join(parts)

    def result(self, state: ScoredMatches) -> ResultMap:
        """The outputs of one image, or of the pooled segments of many."""
        curves = {
            str(name): [_trace(state, name, area, LIMITS[-1]) for area in range(len(AREAS))]
            for name in np.unique(state.truth_classes)
        }
        limited = [[_trace(state, name, 0, limit) for name in curves] for limit in LIMITS]
        by_area = [[found[area] for found in curves.values()] for area in range(len(AREAS))]
        values: dict[str, float | None] = {
            "ap": _mean_precision(by_area[0]),
            "ap50": _mean_precision(by_area[0], threshold=0),
            "ap75": _mean_precision(by_area[0], threshold=5),
        }
        for area, found in zip(_SIZES, by_area[1:], strict=True):
            values[f"ap_{area}"] = _mean_precision(found)
            values[f"ar_{area}"] = _mean_recall(found)
        for limit, found in zip(LIMITS, limited, strict=True):
            values[f"ar{limit}"] = _mean_recall(found)
        for name in self._options.classes:
            values[output_name("ap", name)] = _mean_precision(curves.get(name, [None])[:1])
        return values


def _match_class(
    overlaps: SegmentOverlaps,
    scores: Vector,
    true: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    name: str,
) -> ScoredMatches:
    """Matches of the segments of one class."""
    areas = overlaps.prediction_areas
    rows, columns = overlaps.rows, overlaps.columns
    union = overlaps.truth_areas[rows] + areas[columns] - overlaps.shared
    iou = np.zeros((predicted.size, true.size))
    iou[columns, rows] = overlaps.shared / union
    matches = match_candidates(
        Candidates(
            scores=scores[predicted],
            areas=areas[predicted].astype(np.float64),
            void=(overlaps.void_areas / areas)[predicted],
            truth_areas=overlaps.truth_areas[true].astype(np.float64),
            iou=iou[np.ix_(predicted, true)],
        )
    )
    count = matches.order.size
    return ScoredMatches(
        classes=np.full(count, name),
        scores=scores[predicted][matches.order],
        ranks=np.arange(count, dtype=np.int64),
        matched=matches.matched,
        ignored=matches.ignored,
        truth_classes=np.full(int(true.sum()), name),
        truth_ignored=matches.truth_ignored,
    )


def _join(parts: list[ScoredMatches]) -> ScoredMatches:
    if not parts:
        flags = np.zeros((0, len(AREAS), len(THRESHOLDS)), np.bool_)
        nothing = np.zeros(0, "<U1")
        return ScoredMatches(
            nothing, np.zeros(0), np.zeros(0, np.int64), flags, flags, nothing, flags[:, :, 0]
        )
    columns = ([getattr(part, name) for part in parts] for name in vars(parts[0]))
    return ScoredMatches(*(np.concatenate(column) for column in columns))


def _trace(state: ScoredMatches, name: str, area: int, limit: int) -> Curve | None:
    chosen = (state.classes == name) & (state.ranks < limit)
    counted = (state.truth_classes == name) & ~state.truth_ignored[:, area]
    return trace_curve(
        state.scores[chosen],
        state.matched[chosen, area],
        state.ignored[chosen, area],
        int(counted.sum()),
    )


def _mean_precision(curves: list[Curve | None], threshold: int | None = None) -> float | None:
    kept = [curve.precision for curve in curves if curve is not None]
    if not kept:
        return None
    precision = np.stack(kept)
    return float(np.mean(precision if threshold is None else precision[:, threshold]))


def _mean_recall(curves: list[Curve | None]) -> float | None:
    kept = [curve.recall for curve in curves if curve is not None]
    return float(np.mean(kept)) if kept else None
