"""Segments as functions return them: a mask alone, or with scores, labels and ids beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import as_array
from rpx_core.errors import AdapterError, count_of, first_few
from rpx_seg.types import SegmentationPrediction

_PARTS = ("mask", "scores", "labels", "ids")


def read_segments(answer: Any) -> SegmentationPrediction:
    """The mask of a dict or tuple with the scores and labels that it gives, else of a bare array.

    A dict has `mask` and may have `scores`, `labels` and `ids`; a tuple is (mask, scores) or (mask,
    scores, ids). Scores and labels are by segment id, or lists in the order of `ids`, by default
    that of the mask's own. Raises AdapterError, its message to follow "returned".
    """
    if isinstance(answer, SegmentationPrediction):
        return SegmentationPrediction(_ids_of(answer.mask), answer.scores, answer.labels)
    if isinstance(answer, tuple):
        answer = _name_parts(answer)
    if not isinstance(answer, Mapping):
        return SegmentationPrediction(_ids_of(answer))
    if "mask" not in answer or not set(answer) <= set(_PARTS):
        raise AdapterError(
            f"a dict of {first_few([str(key) for key in answer]) or 'nothing'}; `mask` and, if "
            f"any, {', '.join(_PARTS[1:])} were expected"
        )
    mask = _ids_of(answer["mask"])
    ids = answer.get("ids")
    listed = np.unique(mask[mask > 0]) if ids is None else as_array(ids, "a list of ids")
    order = [int(segment) for segment in listed.reshape(-1).tolist()]
    return SegmentationPrediction(
        mask,
        _by_segment(answer.get("scores"), order, "scores"),
        _by_segment(answer.get("labels"), order, "labels"),
    )


def _name_parts(answer: tuple[Any, ...]) -> dict[str, Any]:
    if len(answer) not in (2, 3):
        raise AdapterError(
            f"a tuple of {len(answer)}; (mask, scores) or (mask, scores, ids) was expected"
        )
    return dict(zip(("mask", "scores", "ids"), answer, strict=False))


def _ids_of(mask: Any) -> NDArray[Any]:
    """Whole ids (H', W')."""
    ids = as_array(mask, "a mask of ids")
    if ids.dtype.kind not in "iub":
        raise AdapterError(
            f"{ids.dtype}; whole ids were expected",
            hint="threshold probabilities, or take the argmax over classes",
        )
    if ids.ndim != 2 or ids.size == 0:
        raise AdapterError(
            f"shape {ids.shape}; a mask of height x width was expected",
            hint="drop batch and channel axes, as in mask[0]",
        )
    return ids


def _by_segment(values: Any, ids: list[int], what: str) -> Mapping[int, Any] | None:
    if values is None or isinstance(values, Mapping):
        return values
    if what == "labels":
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    else:
        listed = as_array(values, "a list of scores").reshape(-1).tolist()
    if len(listed) != len(ids):
        raise AdapterError(
            f"{count_of(len(listed), what[:-1])} for {count_of(len(ids), 'segment')}: "
            f"{first_few(list(map(str, ids)))}",
            hint=f"give one for each, or `ids` to say whose {what} they are",
        )
    return dict(zip(ids, listed, strict=True))
