"""OpenCV's GrabCut: the object inside each box that the task gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.adapters import image_size
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_seg.types import SegmentationPrediction, SegmentationQuery

Window = tuple[slice, slice]


class GrabCutOptions(BaseModel):
    """How often colours are learned anew, and how much image beside a box they are learned from.

    `margin` is a share of the box's size, on each side.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    iterations: Annotated[int, Field(ge=1, le=50)] = 3
    margin: Annotated[float, Field(gt=0, le=10)] = 0.5


class GrabCut:
    """Cuts what differs from the surroundings out of each box (Rother et al. 2004).

    Segments are numbered like the boxes, from 1; where two overlap, the smaller box is in front.
    """

    task = "object_segmentation"

    def __init__(self, options: GrabCutOptions) -> None:
        self._options = options
        self._seed = 0

    def setup(self) -> None:
        """Nothing to load."""

    def describe(self) -> dict[str, str]:
        """The OpenCV that does the cutting."""
        import cv2

        return {"opencv": cv2.__version__}

    def predict(self, batch: Sequence[Sample]) -> list[SegmentationPrediction]:
        """One segment per box; raises ModelError where a sample has no boxes to start from."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> SegmentationPrediction:
        query = sample.query
        if not isinstance(query, SegmentationQuery) or query.boxes is None:
            raise ModelError(
                f"sample {sample.id}: grabcut needs boxes, which options.prompts gives to models",
                hint="--set options.prompts='\"boxes\"', with `boxes` in the manifest",
            )
        mask = np.zeros(image_size(sample), np.int32)
        corners = np.rint(query.boxes).astype(np.int64)
        areas = np.prod(query.boxes[:, 2:] - query.boxes[:, :2], axis=1)
        for index in np.argsort(-areas, kind="stable"):
            window, inside = self._place(corners[index], mask.shape)
            if inside is None:
                continue
            mask[window][self._cut(np.asarray(sample.rgb)[window], inside)] = index + 1
        return SegmentationPrediction(mask)

    def _place(
        self, box: NDArray[np.int64], shape: tuple[int, ...]
    ) -> tuple[Window, NDArray[np.bool_] | None]:
        """The part of the image to look at, and which of its pixels the box holds.

        None when the box holds nothing, or all there is to see.
        """
        low, high = np.clip(box[:2], 0, shape[1::-1]), np.clip(box[2:], 0, shape[1::-1])
        margin = np.ceil(self._options.margin * np.maximum(high - low, 1)).astype(np.int64)
        outer_low, outer_high = np.maximum(low - margin, 0), np.minimum(high + margin, shape[1::-1])
        window = tuple(slice(a, b) for a, b in zip(outer_low[::-1], outer_high[::-1], strict=True))
        inside = np.zeros(outer_high[::-1] - outer_low[::-1], np.bool_)
        low, high = low - outer_low, high - outer_low
        inside[low[1] : high[1], low[0] : high[0]] = True
        usable = inside.any() and not inside.all()
        return (window[0], window[1]), inside if usable else None

    def _cut(self, rgb: NDArray[np.uint8], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
        import cv2

        # Its colour clusters start from OpenCV's own random numbers.
        cv2.setRNGSeed(self._seed)
        labels = np.where(inside, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8)
        background, foreground = np.zeros((1, 65)), np.zeros((1, 65))
        cv2.grabCut(
            np.ascontiguousarray(rgb),
            labels,
            (0, 0, 1, 1),  # not used: the labels say where to start
            background,
            foreground,
            self._options.iterations,
            cv2.GC_INIT_WITH_MASK,
        )
        cut: NDArray[np.bool_] = (labels == cv2.GC_PR_FGD) | (labels == cv2.GC_FGD)
        return cut


def load(options: GrabCutOptions, runtime: Runtime) -> GrabCut:
    """The model, on the CPU."""
    return GrabCut(options)
