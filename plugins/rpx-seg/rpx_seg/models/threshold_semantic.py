"""A room by rules of thumb: what any semantic segmentation model must beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.adapters import image_size
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_seg.resize import resize_labels
from rpx_seg.standing_blobs import StandingBlob, find_standing_blobs
from rpx_seg.table_colours import Mask, chromaticity, find_table, name_table_colours
from rpx_seg.types import SemanticPrediction, SemanticQuery

_TABLE_ROW = 0.5
"""A row belongs to the table from this share of table-coloured pixels."""
_GREY = 0.06
"""Walls are this grey: largest distance of a channel's share from one third."""

_TALL, _UPRIGHT, _FLAT = 1.55, 1.15, 0.72
_ROUND, _SOLID = 0.83, 0.66


class ThresholdSemanticOptions(BaseModel):
    """`min_share` of the image is the smallest object; images are looked at `width_px` wide."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_share: Annotated[float, Field(gt=0, lt=1)] = 0.0008
    width_px: Annotated[int, Field(ge=16)] = 160


class ThresholdSemantic:
    """Table, wall, floor and cabinet by colour and place, objects by the shape of their blob.

    Answers with the ids that the dataset gives to these names. What has a name that the dataset
    does not know is answered with its first class.
    """

    task = "semantic_segmentation"

    def __init__(self, options: ThresholdSemanticOptions) -> None:
        self._options = options

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[SemanticPrediction]:
        """The class map of each image; raises ModelError where the dataset names no classes."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> SemanticPrediction:
        shape = image_size(sample)
        ids = _ids_by_name(sample)
        default = min(ids.values())
        step = max(1, shape[1] // self._options.width_px)
        small = np.asarray(sample.rgb)[::step, ::step]
        chroma = chromaticity(small)
        table, _ = find_table(chroma)
        grey = np.abs(chroma - 1 / 3).max(axis=2) < _GREY
        mask = np.full(table.shape, default, np.int32)
        for name, place in _name_background(table, grey).items():
            mask[place] = ids.get(name, default)
        least = max(1, round(self._options.min_share * table.size))
        for blob in find_standing_blobs(name_table_colours(small), table, least):
            mask[blob.rows, blob.columns][blob.mask] = ids.get(guess_object(blob), default)
        return SemanticPrediction(resize_labels(mask, shape))


def guess_object(blob: StandingBlob) -> str:
    """What an object of this outline most often is on a table."""
    if blob.tallness > _TALL:
        return "bottle"
    if blob.tallness < _FLAT:
        return "book" if blob.filled < _SOLID else "bowl"
    if blob.filled < _SOLID:
        return "cone"
    if blob.tallness > _UPRIGHT:
        return "can"
    return "ball" if blob.filled < _ROUND else "box"


def load(options: ThresholdSemanticOptions, runtime: Runtime) -> ThresholdSemantic:
    """The model, for any device."""
    return ThresholdSemantic(options)


def _ids_by_name(sample: Sample) -> Mapping[str, int]:
    query = sample.query
    if not isinstance(query, SemanticQuery) or not query.classes:
        raise ModelError(
            f"sample {sample.id}: the dataset names no classes to answer with",
            hint="list them in `labels` or classes.json, or in options.classes",
        )
    return {name.strip().lower(): i for i, name in query.classes.items()}


def _name_background(table: Mask, grey: Mask) -> dict[str, Mask]:
    """Where wall, cabinet, floor and table are: above the table's far edge, or beside it."""
    rows = np.flatnonzero(table.mean(axis=1) >= _TABLE_ROW)
    above = np.zeros(table.shape, np.bool_)
    above[: int(rows[0]) if rows.size else 0] = True
    return {
        "wall": above & grey,
        "cabinet": above & ~grey,
        "table": ~above,
        "floor": ~above & ~table & _reaches_side(~table),
    }


def _reaches_side(mask: Mask) -> Mask:
    """The pixels that are connected to the left or right edge along their row."""
    left = np.logical_and.accumulate(mask, axis=1)
    right = np.logical_and.accumulate(mask[:, ::-1], axis=1)[:, ::-1]
    reached: Mask = left | right
    return reached
