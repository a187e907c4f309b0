"""Ranking many images at once, a block at a time, so that memory stays small."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rpx_core.state import fold
from rpx_detection.criteria import Criteria
from rpx_detection.matching import Indices
from rpx_detection.ranked_list import BoxColumns, ImageBatch, RankedList, rank

BLOCK = 1000
"""Images per block: enough for numpy to be fast, few enough for its arrays to be small."""

Columns = TypeVar("Columns", bound=BoxColumns)


def rank_in_blocks(batch: ImageBatch, criteria: Criteria, block: int = BLOCK) -> RankedList:
    """The ranked list of a batch of any size: equal to `rank(batch, criteria)`, bit for bit."""
    objects, detections = _by_image(batch.objects), _by_image(batch.detections)
    lists = []
    bounds = [*range(0, batch.images, block), batch.images]
    for start, end in pairwise(bounds):
        part = ImageBatch(
            objects=_rows(objects, _between(objects, start, end)),
            detections=_rows(detections, _between(detections, start, end)),
            classes=batch.classes,
            images=end - start,
        )
        lists.append(rank(part, criteria))
    return fold(lists) or rank(batch, criteria)


def _by_image(columns: Columns) -> Columns:
    """The rows in the order of their images; rows of one image keep theirs."""
    if (np.diff(columns.images) >= 0).all():
        return columns
    return _rows(columns, np.argsort(columns.images, kind="stable"))


def _between(columns: BoxColumns, start: int, end: int) -> slice:
    return slice(*np.searchsorted(columns.images, (start, end)).tolist())


def _rows(columns: Columns, chosen: slice | Indices) -> Columns:
    values = {field.name: getattr(columns, field.name)[chosen] for field in fields(columns)}
    return replace(columns, **values)
