"""Ranking many images at once, a block at a time, so that memory stays small."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rpx_core.ranking.criteria import Criteria
from rpx_core.ranking.matching import Indices
from rpx_core.ranking.ranked_list import Columns, ImageBatch, RankedList, rank
from rpx_core.state import fold

BLOCK = 1000
"""Images per block: enough for numpy to be fast, few enough for its arrays to be small."""

Rows = TypeVar("Rows", bound=Columns)


def rank_in_blocks(batch: ImageBatch, criteria: Criteria, block: int = BLOCK) -> RankedList:
    """The ranked list of a batch of any size: equal to `rank(batch, criteria)`, bit for bit."""
    ordered = _by_image(batch)
    bounds = [*range(0, batch.images, block), batch.images]
    lists = [rank(_between(ordered, *ends), criteria) for ends in pairwise(bounds)]
    return fold(lists) or rank(batch, criteria)


def _by_image(batch: ImageBatch) -> ImageBatch:
    """The rows in the order of their images; rows of one image keep theirs."""
    if all((np.diff(rows.images) >= 0).all() for rows in (batch.objects, batch.detections)):
        return batch
    objects, detections = (
        np.argsort(rows.images, kind="stable") for rows in (batch.objects, batch.detections)
    )
    return replace(
        batch,
        objects=_choose(batch.objects, objects),
        detections=_choose(batch.detections, detections),
        overlap=lambda first, second: batch.overlap(detections[first], objects[second]),
    )


def _between(batch: ImageBatch, start: int, end: int) -> ImageBatch:
    """The images from `start` to before `end`, of a batch whose rows are in their order."""
    objects, detections = (
        slice(*np.searchsorted(rows.images, (start, end)).tolist())
        for rows in (batch.objects, batch.detections)
    )
    return replace(
        batch,
        objects=_choose(batch.objects, objects),
        detections=_choose(batch.detections, detections),
        overlap=lambda first, second: batch.overlap(
            first + detections.start, second + objects.start
        ),
        images=end - start,
    )


def _choose(columns: Rows, chosen: slice | Indices) -> Rows:
    values = {field.name: getattr(columns, field.name)[chosen] for field in fields(columns)}
    return replace(columns, **values)
