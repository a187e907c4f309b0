"""The published mean IoU: raw ids against raw ids."""

from __future__ import annotations

import numpy as np

from rpx_seg.overlaps import Labels, count_pairs


def raw_id_miou(truth: Labels, prediction: Labels) -> float | None:
    """Mean IoU over the ids from 0 in the truth, by equality of ids; None without any.

    Negative truth ids are left out as classes, but their pixels stay in the unions, as published.
    """
    return _mean_iou(truth, prediction, both=False)


def either_id_miou(first: Labels, second: Labels) -> float | None:
    """Mean IoU over the ids from 0 in either map, by equality of ids; None without any."""
    return _mean_iou(first, second, both=True)


def _mean_iou(first: Labels, second: Labels, *, both: bool) -> float | None:
    pairs = count_pairs(first, second)
    ids = np.unique(np.concatenate([pairs.first, pairs.second]) if both else pairs.first)
    ids = ids[ids >= 0]
    if not ids.size:
        return None
    equal = pairs.first == pairs.second
    scores = []
    for i in ids:
        of_first, of_second = pairs.first == i, pairs.second == i
        union = pairs.pixels[of_first | of_second].sum()
        scores.append(float(pairs.pixels[of_first & equal].sum() / union))
    return sum(scores) / len(scores)
