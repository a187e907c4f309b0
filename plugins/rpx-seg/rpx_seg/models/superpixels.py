"""Superpixels of scikit-image: everything is a segment, none is background."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.adapters import image_size
from rpx_core.contracts import Runtime, Sample
from rpx_seg.types import SegmentationPrediction

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class SlicOptions(BaseModel):
    """About how many segments there are, and how much their shape counts against their colour."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_segments: Annotated[int, Field(ge=1, le=100_000)] = 60
    compactness: Positive = 20.0


class FelzenszwalbOptions(BaseModel):
    """`scale` favours larger segments, `sigma` smooths first, in pixels; none is smaller than
    `min_size_px`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scale: Positive = 300.0
    sigma: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.8
    min_size_px: Annotated[int, Field(ge=1)] = 100


class Superpixels:
    """A model that cuts an image into segments, numbered from 0 by `cut`."""

    task = "object_segmentation"

    def __init__(self, cut: Callable[[NDArray[np.uint8]], NDArray[np.int64]]) -> None:
        self._cut = cut

    def setup(self) -> None:
        """Nothing to load."""

    def describe(self) -> dict[str, str]:
        """The scikit-image that does the cutting."""
        from importlib.metadata import version

        return {"scikit-image": version("scikit-image")}

    def predict(self, batch: Sequence[Sample]) -> list[SegmentationPrediction]:
        """Segments of each image, numbered from 1: 0 would be background."""
        return [SegmentationPrediction(self._number(sample)) for sample in batch]

    def _number(self, sample: Sample) -> NDArray[np.int32]:
        image_size(sample)
        segments: NDArray[np.int32] = self._cut(np.asarray(sample.rgb)).astype(np.int32) + 1
        return segments


def cut_slic(options: SlicOptions, rgb: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Clusters of pixels near in colour and place (Achanta et al. 2012)."""
    from skimage.segmentation import slic

    segments: NDArray[np.int64] = slic(
        rgb, n_segments=options.n_segments, compactness=options.compactness, start_label=0
    )
    return segments


def cut_felzenszwalb(options: FelzenszwalbOptions, rgb: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Regions by a graph of colour differences (Felzenszwalb and Huttenlocher 2004)."""
    from skimage.segmentation import felzenszwalb

    segments: NDArray[np.int64] = felzenszwalb(
        rgb, scale=options.scale, sigma=options.sigma, min_size=options.min_size_px
    )
    return segments


def load_slic(options: SlicOptions, runtime: Runtime) -> Superpixels:
    """The model, on the CPU."""
    return Superpixels(partial(cut_slic, options))


def load_felzenszwalb(options: FelzenszwalbOptions, runtime: Runtime) -> Superpixels:
    """The model, on the CPU."""
    return Superpixels(partial(cut_felzenszwalb, options))
