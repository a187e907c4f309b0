"""HOTA of one sequence: sums that add up over sequences, and the scores that they give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rpx_detection.tracking.assignment import assign
from rpx_detection.tracking.clip import EPSILON, Clip, Floats, Ints, Overlaps
from rpx_detection.tracking.sums import Count, Counts, Totals

ALPHAS: Floats = np.arange(0.05, 0.99, 0.05)
"""The 19 localisation thresholds: 0.05, 0.10, ... 0.95."""
HALF = 9
"""The place of the threshold 0.5."""


@dataclass(frozen=True, eq=False)
class HotaSums:
    """What HOTA needs of a sequence; adding the fields pools sequences.

    `matched` (19,) counts true positives at each threshold, `similarity` (19,) sums their IoU, and
    the `association` sums (19,) their A, A-recall and A-precision. `unmatched_sequences` is 1 for
    a sequence with truth that has no true positive at any threshold.
    """

    truths: Count
    predictions: Count
    matched: Counts
    similarity: Totals
    association: Totals
    association_recall: Totals
    association_precision: Totals
    unmatched_sequences: Count


def measure_hota(clip: Clip) -> HotaSums:
    """Match every frame once, by track alignment times IoU, and count at every threshold.

    A match c of truth track g and predicted track p, matched n times in all at a threshold, has
    A(c) = n / (|g| + |p| - n), A-recall n / |g| and A-precision n / |p|.
    """
    pairs = clip.overlaps
    track, alignment = _align_tracks(clip, pairs)
    chosen = assign(clip, pairs, alignment * pairs.iou)
    iou = pairs.iou[chosen]
    tracks, track = np.unique(track[chosen], return_inverse=True)
    g, p = np.divmod(tracks, max(clip.prediction.count, 1))
    truth_length, prediction_length = clip.truth.lengths[g], clip.prediction.lengths[p]
    order = np.argsort(iou, kind="stable")
    first = np.searchsorted(iou[order], ALPHAS - EPSILON)
    similarity, association, recall, precision = np.zeros((4, len(ALPHAS)))
    for place, start in enumerate(first.tolist()):
        reached = order[start:]
        matches = np.bincount(track[reached], minlength=len(tracks))
        squares = matches * matches
        similarity[place] = iou[reached].sum()
        association[place] = (squares / (truth_length + prediction_length - matches)).sum()
        recall[place] = (squares / truth_length).sum()
        precision[place] = (squares / prediction_length).sum()
    lost = bool(len(clip.truth)) and first[0] == len(chosen)
    return HotaSums(
        truths=len(clip.truth),
        predictions=len(clip.prediction),
        matched=len(chosen) - first,
        similarity=similarity,
        association=association,
        association_recall=recall,
        association_precision=precision,
        unmatched_sequences=int(lost),
    )


def hota_curves(counts: HotaSums) -> dict[str, Floats]:
    """The scores at every threshold, (19,) each, as TrackEval has them.

    Zero over zero is 0, but 1 for `loca`; `summarize_hota` says which numbers are undefined.
    """
    matched = counts.matched
    missed, false = counts.truths - matched, counts.predictions - matched
    some = np.maximum(1, matched)
    curves = {
        "deta": matched / np.maximum(1, matched + missed + false),
        "detre": matched / np.maximum(1, matched + missed),
        "detpr": matched / np.maximum(1, matched + false),
        "assa": counts.association / some,
        "assre": counts.association_recall / some,
        "asspr": counts.association_precision / some,
        "loca": np.where(matched > 0, counts.similarity / some, 1.0),
    }
    curves["hota"] = np.sqrt(curves["deta"] * curves["assa"])
    curves["owta"] = np.sqrt(curves["detre"] * curves["assa"])
    return curves


def summarize_hota(counts: HotaSums) -> dict[str, float | None]:
    """Means over the thresholds, and single thresholds; None where a score is undefined."""
    curves = hota_curves(counts)
    scores: dict[str, float | None] = {name: float(curve.mean()) for name, curve in curves.items()}
    scores["hota_50"] = float(curves["hota"][HALF])
    scores["hota_0"] = float(curves["hota"][0])
    scores["loca_0"] = float(curves["loca"][0])
    scores["hotaloca_0"] = float(curves["hota"][0] * curves["loca"][0])
    return {name: None if name in _undefined(counts) else value for name, value in scores.items()}


def _align_tracks(clip: Clip, pairs: Overlaps) -> tuple[Ints, Floats]:
    """For each pair the number of its pair of tracks, and how well these two fit overall.

    The fit of two tracks is the Jaccard index of their boxes, where a frame counts as shared to
    the degree that the two boxes overlap each other rather than anything else.
    """
    by_truth = np.bincount(pairs.truth, pairs.iou, len(clip.truth))
    by_prediction = np.bincount(pairs.prediction, pairs.iou, len(clip.prediction))
    rivalry = by_prediction[pairs.prediction] + by_truth[pairs.truth] - pairs.iou
    g = clip.truth.identity[pairs.truth]
    p = clip.prediction.identity[pairs.prediction]
    track = g * clip.prediction.count + p
    _, place = np.unique(track, return_inverse=True)
    shared = np.bincount(place, pairs.iou / rivalry)[place]
    return track, shared / (clip.truth.lengths[g] + clip.prediction.lengths[p] - shared)


def _undefined(counts: HotaSums) -> frozenset[str]:
    """The scores without a meaning: nothing to divide by, or no match at any threshold."""
    names: set[str] = set()
    if not counts.truths:
        names |= {"detre", "owta"}
    if not counts.predictions:
        names |= {"detpr"}
    if not counts.truths and not counts.predictions:
        names |= {"deta", "hota", "hota_50", "hota_0"}
    if not np.any(counts.matched):
        names |= {"assa", "assre", "asspr", "loca", "loca_0", "hotaloca_0"}
    return frozenset(names)
