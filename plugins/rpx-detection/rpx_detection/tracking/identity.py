"""Identity measures of one sequence: the one-to-one map of tracks that explains the most boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rpx_detection.tracking.assignment import solve
from rpx_detection.tracking.clip import Clip
from rpx_detection.tracking.sums import Count


@dataclass(frozen=True, eq=False)
class IdentitySums:
    """What the identity measures need of a sequence; adding the fields pools sequences.

    `matched` boxes (IDTP) overlap in the frames that two tracks mapped to each other share.
    """

    truths: Count
    predictions: Count
    matched: Count


def measure_identity(clip: Clip, min_iou: float) -> IdentitySums:
    """Map truth tracks to predicted ones so that as many boxes as possible agree."""
    near = clip.overlaps.iou >= min_iou
    truth, row = np.unique(clip.truth.identity[clip.overlaps.truth[near]], return_inverse=True)
    prediction, column = np.unique(
        clip.prediction.identity[clip.overlaps.prediction[near]], return_inverse=True
    )
    shape = (len(truth), len(prediction))
    agree = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1]).reshape(shape)
    mapped = solve(agree)
    return IdentitySums(len(clip.truth), len(clip.prediction), int(agree[mapped].sum()))


def summarize_identity(sums: IdentitySums) -> dict[str, float | None]:
    """The numbers of one sequence or of a sum; None where there is nothing to divide by."""
    matched = int(sums.matched)
    missed, false = int(sums.truths) - matched, int(sums.predictions) - matched
    every = matched + 0.5 * missed + 0.5 * false
    return {
        "idf1": matched / every if every else None,
        "idp": matched / (matched + false) if matched + false else None,
        "idr": matched / (matched + missed) if matched + missed else None,
        "idtp": matched,
        "idfp": false,
        "idfn": missed,
    }
