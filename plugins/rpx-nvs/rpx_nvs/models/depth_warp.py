"""Moves the pixels of the source views to where the target camera sees them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_core.warp import Camera, View
from rpx_nvs.colours import LEVELS, to_uint8
from rpx_nvs.splatting import ColouredView, fill_depth, fill_holes, splat
from rpx_nvs.types import NovelViewSynthesisPrediction, NovelViewSynthesisQuery, SourceView


class DepthWarp:
    """Forward warping with a z-buffer: the classical answer where the source's depth is given.

    Unknown source depths are taken from the background beside them. What no source view sees is
    filled from the nearest warped pixel of its row, of the two sides from the one farther away.
    Where nothing lands in the target at all, the mean colour of the first view is the answer.
    """

    task = "novel_view_synthesis"

    def setup(self) -> None:
        """Nothing to load."""

    def predict(self, batch: Sequence[Sample]) -> list[NovelViewSynthesisPrediction]:
        """One view per sample; raises ModelError where depth or intrinsics are not given."""
        return [NovelViewSynthesisPrediction(self._predict(sample)) for sample in batch]

    def _predict(self, sample: Sample) -> np.ndarray:
        query: NovelViewSynthesisQuery = sample.query
        if query.target_intrinsics is None:
            raise ModelError(f"sample {sample.id}: the target camera has no intrinsics to warp to")
        target = Camera(query.target_intrinsics, query.target_pose)
        views = [_coloured(source, sample.id) for source in query.sources]
        colour, depth = splat(views, target, query.target_size)
        if not depth.any():
            mean = views[0].rgb.mean(axis=(0, 1))
            return to_uint8(np.broadcast_to(mean / LEVELS, (*query.target_size, 3)))
        return to_uint8(fill_holes(colour, depth) / LEVELS)


def load(options: None, runtime: Runtime) -> DepthWarp:
    """The model, for any device."""
    return DepthWarp()


def _coloured(source: SourceView, sample_id: str) -> ColouredView:
    if source.depth is None or source.intrinsics is None:
        missing = "depth" if source.depth is None else "intrinsics"
        raise ModelError(
            f"sample {sample_id}: depth-warp is given no {missing} for a source view: the dataset "
            "lacks it, or the option source_depth is off; copy-source runs without"
        )
    camera = Camera(source.intrinsics, source.pose)
    return ColouredView(source.rgb, View(fill_depth(source.depth), camera))
