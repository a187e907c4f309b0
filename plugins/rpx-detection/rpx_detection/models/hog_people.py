"""Upright people, by OpenCV's histogram of oriented gradients and its trained linear classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_core.opencv import require_opencv
from rpx_detection.types import DetectionPrediction

if TYPE_CHECKING:
    import cv2

# The training windows of 64x128 hold a person of about 32x96 pixels.
_MARGIN_X, _MARGIN_Y = 0.25, 0.125


class HogPeopleOptions(BaseModel):
    """`label` is what people are called; `scale` is the step between sizes that are searched.

    `trim` cuts the margin of the search window off, which the classifier was trained with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str = "person"
    scale: Annotated[float, Field(gt=1, le=2)] = 1.05
    stride_px: Annotated[int, Field(ge=4, le=32, multiple_of=4)] = 8
    trim: bool = True


class HogPeople:
    """Finds people who stand upright and are at least 96 pixels tall.

    Source: Dalal and Triggs, 2005, as in OpenCV 4; scores are distances from the separating plane.
    """

    def __init__(self, options: HogPeopleOptions, task: str = "object_detection") -> None:
        self.task = task
        self._options = options
        self._detector: cv2.HOGDescriptor | None = None

    def setup(self) -> None:
        """Load the classifier that comes with OpenCV."""
        cv2 = require_opencv("HOGDescriptor", "rpx-detection[opencv]")
        self._detector = cv2.HOGDescriptor()
        self._detector.setSVMDetector(np.asarray(cv2.HOGDescriptor.getDefaultPeopleDetector()))

    def describe(self) -> dict[str, str]:
        """The OpenCV that does the search."""
        import cv2

        return {"opencv": cv2.__version__}

    def predict(self, batch: Sequence[Sample]) -> list[DetectionPrediction]:
        """The people in each image."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> DetectionPrediction:
        if sample.rgb is None or self._detector is None:
            raise ModelError(f"sample {sample.id}: hog-people needs an image, and setup() first")
        grey = np.ascontiguousarray(sample.rgb[..., ::-1])
        stride = self._options.stride_px
        if min(sample.rgb.shape[0] // 128, sample.rgb.shape[1] // 64) < 1:
            found, weights = np.zeros((0, 4)), np.zeros(0)
        else:
            raw, raw_weights = self._detector.detectMultiScale(
                grey, winStride=(stride, stride), scale=self._options.scale
            )
            found = np.asarray(raw, np.float64).reshape(-1, 4)
            weights = np.asarray(raw_weights, np.float64).reshape(-1)
        x, y, width, height = found.T
        corners = np.stack([x, y, x + width, y + height], axis=1)
        if self._options.trim:
            dx, dy = _MARGIN_X * width, _MARGIN_Y * height
            corners += np.stack([dx, dy, -dx, -dy], axis=1)
        labels = (self._options.label,) * len(corners)
        return DetectionPrediction(corners, weights, labels)


def load(options: HogPeopleOptions, runtime: Runtime) -> HogPeople:
    """The model, on the CPU."""
    return HogPeople(options, runtime.task or "object_detection")
