"""Objects on a table by colour: what any instance segmentation model must beat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.adapters import image_size
from rpx_core.contracts import Runtime, Sample
from rpx_seg.resize import resize_labels
from rpx_seg.standing_blobs import find_standing_blobs
from rpx_seg.table_colours import WORDS, chromaticity, find_table, name_table_colours
from rpx_seg.types import SegmentationPrediction


class ThresholdOptions(BaseModel):
    """`min_share` of the image is the smallest object; images are looked at `width_px` wide."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_share: Annotated[float, Field(gt=0, lt=1)] = 0.0008
    width_px: Annotated[int, Field(ge=16)] = 160


class Threshold:
    """Compact blobs of one colour that stand on something of the most frequent colour below.

    Ids say the colour word first, then which of its blobs from the left, so that an object mostly
    keeps its id from frame to frame. The score is how far the colour is from the table's.
    """

    task = "object_segmentation"

    def __init__(self, options: ThresholdOptions) -> None:
        self._options = options

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[SegmentationPrediction]:
        """The blobs of each image."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> SegmentationPrediction:
        shape = image_size(sample)
        step = max(1, shape[1] // self._options.width_px)
        small = np.asarray(sample.rgb)[::step, ::step]
        chroma = chromaticity(small)
        table, colour = find_table(chroma)
        least = max(1, round(self._options.min_share * table.size))
        mask = np.zeros(table.shape, np.int32)
        scores: dict[int, float] = {}
        for blob in find_standing_blobs(name_table_colours(small), table, least):
            segment = blob.word
            while segment in scores:
                segment += len(WORDS)
            place = (blob.rows, blob.columns)
            mask[place][blob.mask] = segment
            distance = float(np.abs(chroma[place][blob.mask].mean(axis=0) - colour).max())
            scores[segment] = min(1.0, 2 * distance)
        # A later blob may cover an earlier one whole.
        left = set(np.unique(mask).tolist())
        kept = {segment: score for segment, score in scores.items() if segment in left}
        return SegmentationPrediction(resize_labels(mask, shape), kept)


def load(options: ThresholdOptions, runtime: Runtime) -> Threshold:
    """The model, for any device."""
    return Threshold(options)
