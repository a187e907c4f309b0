"""Answers the source image itself: what standing still would score."""

from __future__ import annotations

from collections.abc import Sequence

from rpx_core.contracts import Runtime, Sample
from rpx_nvs.colours import resize_colours
from rpx_nvs.types import NovelViewSynthesisPrediction, NovelViewSynthesisQuery


class CopySource:
    """The first source view, resized bilinearly where the target has another size."""

    task = "novel_view_synthesis"

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[NovelViewSynthesisPrediction]:
        """The source image of each sample."""
        return [_copy(sample.query) for sample in batch]


def load(options: None, runtime: Runtime) -> CopySource:
    """The model, for any device."""
    return CopySource()


def _copy(query: NovelViewSynthesisQuery) -> NovelViewSynthesisPrediction:
    rgb = resize_colours(query.sources[0].rgb, query.target_size)
    return NovelViewSynthesisPrediction(rgb)
