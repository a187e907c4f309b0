"""The published mean IoU: raw ids against raw ids."""

from __future__ import annotations

import numpy as np

from rpx_seg.overlaps import Labels, count_pairs


def raw_id_miou(truth: Labels, prediction: Labels) -> float | None:
    """Mean IoU over the ids from 0 in the truth, by equality of ids; None without any.

    Negative truth ids are left out as classes, but their pixels stay in the unions, as published.
    """
    pairs = count_pairs(truth, prediction)
    ids = np.unique(pairs.first)
    ids = ids[ids >= 0]
    if not ids.size:
        return None
    equal = pairs.first == pairs.second
    scores = []
    for i in ids:
        of_truth, of_prediction = pairs.first == i, pairs.second == i
        union = pairs.pixels[of_truth | of_prediction].sum()
        scores.append(float(pairs.pixels[of_truth & equal].sum() / union))
    return sum(scores) / len(scores)
