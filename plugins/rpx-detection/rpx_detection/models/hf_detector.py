"""Detection of fixed classes with networks of the `transformers` library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.inference.pretrained import (
    Classes,
    PretrainedNetwork,
    copy_images,
    list_sizes,
)
from rpx_detection.models.hf_options import HfDetectionOptions
from rpx_detection.types import DetectionPrediction


class HfDetector(PretrainedNetwork[HfDetectionOptions]):
    """DETR, RT-DETR, YOLOS and their kin: the processor's `post_process_object_detection` decides.

    Labels are the checkpoint's `id2label`, renamed as the options say; the task compares them.
    """

    classes = Classes("AutoModelForObjectDetection", lacks="detects no objects of fixed classes")

    def answer(self, samples: Sequence[Sample]) -> list[DetectionPrediction]:
        """The surest boxes of each image."""
        inputs = self.pretrained.processor(images=copy_images(samples), return_tensors="pt")
        outputs = self.pretrained.forward(**inputs)
        arguments = {"threshold": self._options.threshold, "target_sizes": list_sizes(samples)}
        found = self.pretrained.post_process("post_process_object_detection", outputs, arguments)
        return [self._read(one) for one in found]

    def _read(self, found: Mapping[str, Any]) -> DetectionPrediction:
        boxes, scores = numbers(found["boxes"]).reshape(-1, 4), numbers(found["scores"])
        kept = surest(scores, self._options.most_boxes)
        indices = [int(index) for index in numbers(found["labels"])[kept]]
        names = [self.pretrained.label(index) for index in indices]
        renamed = tuple(self._options.labels.get(name, name) for name in names)
        return DetectionPrediction(boxes[kept], scores[kept], renamed)


def numbers(tensor: Any) -> NDArray[np.float64]:
    """A tensor as float64, which every task here stores."""
    return np.asarray(tensor.detach().float().cpu().numpy(), np.float64)


def surest(scores: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Positions of the highest scores, the highest first; of equal ones, the first come first."""
    return np.argsort(-scores, kind="stable")[:most]
