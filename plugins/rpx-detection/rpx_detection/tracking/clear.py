"""CLEAR MOT of one sequence: matches that prefer to last, switches, fragments, tracked shares."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

import numpy as np

from rpx_detection.tracking.assignment import Contested, assign_frame
from rpx_detection.tracking.clip import EPSILON, Clip, Flags, Floats, Ints, Overlaps
from rpx_detection.tracking.sums import Count, Total

_LAST = 1000.0
"""Weight of keeping a partner, against an IoU of at most 1 for a better fit."""
_MOSTLY, _PARTLY = 0.8, 0.2


@dataclass(frozen=True, eq=False)
class ClearSums:
    """What CLEAR MOT needs of a sequence; adding the fields pools sequences.

    Of the boxes, `matched` are true positives with a summed IoU of `similarity`. Of the truth
    tracks, `mostly` are matched for more than 80 % of their length, `partly` for 20 to 80 %.
    """

    frames: Count
    truths: Count
    predictions: Count
    matched: Count
    similarity: Total
    switches: Count
    fragments: Count
    truth_tracks: Count
    mostly: Count
    partly: Count


@dataclass(frozen=True, eq=False)
class Matches:
    """For each truth box the predicted track it is matched to (-1: none), and their IoU (or 0)."""

    partner: Ints
    iou: Floats


def measure_clear(clip: Clip, min_iou: float) -> ClearSums:
    """Match each frame, keeping the partners of the frame before where they still overlap."""
    previous = _find_previous(clip)
    matches = _match(clip, min_iou, previous)
    hit = matches.partner >= 0
    tracks = clip.truth.count
    share = np.bincount(clip.truth.identity[hit], minlength=tracks) / clip.truth.lengths
    mostly, partly = int((share > _MOSTLY).sum()), int((share >= _PARTLY).sum())
    return ClearSums(
        frames=clip.frames,
        truths=len(clip.truth),
        predictions=len(clip.prediction),
        matched=int(hit.sum()),
        similarity=float(matches.iou.sum()),
        switches=_count_switches(clip, matches.partner),
        fragments=_count_fragments(clip, hit, previous),
        truth_tracks=tracks,
        mostly=mostly,
        partly=partly - mostly,
    )


def summarize_clear(sums: ClearSums) -> dict[str, float | None]:
    """The numbers of one sequence or of a sum; None where there is nothing to divide by."""
    truths, tracks, switches = int(sums.truths), int(sums.truth_tracks), int(sums.switches)
    matched, similarity = int(sums.matched), float(sums.similarity)
    missed, false = truths - matched, int(sums.predictions) - matched
    mostly, partly = int(sums.mostly), int(sums.partly)
    lost = tracks - mostly - partly
    logarithm = log10(switches) if switches else 0.0
    return {
        "mota": _ratio(matched - false - switches, truths),
        "motp": _ratio(similarity, matched),
        "moda": _ratio(matched - false, truths),
        "smota": _ratio(similarity - false - switches, truths),
        "motal": _ratio(matched - false - logarithm, truths),
        "recall": _ratio(matched, truths),
        "precision": _ratio(matched, matched + false),
        "f1": _ratio(matched, matched + 0.5 * missed + 0.5 * false),
        "fp_per_frame": _ratio(false, int(sums.frames)),
        "mt_ratio": _ratio(mostly, tracks),
        "pt_ratio": _ratio(partly, tracks),
        "ml_ratio": _ratio(lost, tracks),
        "idsw": switches,
        "frag": int(sums.fragments),
        "mt": mostly,
        "pt": partly,
        "ml": lost,
        "tp": matched,
        "fp": false,
        "fn": missed,
    }


def _match(clip: Clip, min_iou: float, previous: Ints) -> Matches:
    pairs = clip.overlaps.select(clip.overlaps.iou >= min_iou - EPSILON)
    track = clip.prediction.identity
    matches = Matches(np.full(len(clip.truth), -1), np.zeros(len(clip.truth)))

    def take(some: Overlaps, kept: Flags) -> None:
        matches.partner[some.truth[kept]] = track[some.prediction[kept]]
        matches.iou[some.truth[kept]] = some.iou[kept]

    # Without rivals pairs are matched whatever came before: only conflicts depend on the past.
    contested = Contested(clip, pairs)
    take(pairs, contested.elsewhere())
    for frame, part in contested:
        rivals = pairs.select(part)
        before = previous[rivals.truth]
        lasts = (before >= 0) & (matches.partner[before] == track[rivals.prediction])
        take(rivals, assign_frame(clip, frame, rivals, rivals.iou + _LAST * lasts))
    return matches


def _find_previous(clip: Clip) -> Ints:
    """For each truth box the row of its track's box in the frame before, -1 where there is none.

    Frames in which either side has no box are passed over, as TrackEval passes over them.
    """
    busy = (np.diff(clip.truth_starts) > 0) & (np.diff(clip.prediction_starts) > 0)
    step = (np.cumsum(busy) - 1)[clip.truth.frame]
    order = _by_track(clip)
    order = order[busy[clip.truth.frame[order]]]
    track = clip.truth.identity[order]
    follows = (np.diff(track) == 0) & (np.diff(step[order]) == 1)
    previous = np.full(len(clip.truth), -1)
    previous[order[1:][follows]] = order[:-1][follows]
    return previous


def _count_switches(clip: Clip, partner: Ints) -> int:
    """Matches whose track's last match, however long ago, was with another predicted track."""
    order = _by_track(clip)
    order = order[partner[order] >= 0]
    same = np.diff(clip.truth.identity[order]) == 0
    return int((same & (np.diff(partner[order]) != 0)).sum())


def _count_fragments(clip: Clip, hit: Flags, previous: Ints) -> int:
    """Times that tracking of a truth track resumes after an interruption."""
    resumes = hit & ((previous < 0) | ~hit[previous])
    begun = np.bincount(clip.truth.identity[resumes], minlength=clip.truth.count)
    return int((begun[begun > 0] - 1).sum())


def _by_track(clip: Clip) -> Ints:
    """Truth rows by track, frames ascending in each."""
    return np.argsort(clip.truth.identity, kind="stable")


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
