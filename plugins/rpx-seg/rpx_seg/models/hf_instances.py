"""Instance segmentation with networks of the `transformers` library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import Pretrained, PretrainedNetwork, sizes
from rpx_seg.models.hf_networks import HfSegmentationOptions, load_segmenter, prepare
from rpx_seg.types import SegmentationPrediction

Method = Literal[
    "post_process_instance_segmentation",
    "post_process_panoptic_segmentation",
    "post_process_semantic_segmentation",
]
METHODS: tuple[Method, ...] = (
    "post_process_instance_segmentation",
    "post_process_panoptic_segmentation",
    "post_process_semantic_segmentation",
)
"""What is asked of a processor: the first of these that it has."""


class HfInstances(PretrainedNetwork[HfSegmentationOptions]):
    """A segmenter and its processor, whose own post-processing finds the segments.

    Segments are numbered anew from 1, the surest first: processors number them from 0, or mark
    the rest with -1, which would collide with the background 0. With a panoptic network, walls and
    floors are segments too. A semantic network gives one segment for each class, without scores.
    """

    def open(self, placement: Placement) -> Pretrained:
        """The class that the checkpoint names; AdapterError where no post-processing fits."""
        pretrained = load_segmenter(self._options, placement)
        _choose_method(pretrained.processor)
        return pretrained

    def describe(self) -> dict[str, str]:
        """Checkpoint, classes, version of transformers, and the post-processing."""
        if self._pretrained is None:
            return {}
        method = _choose_method(self._pretrained.processor)
        return super().describe() | {"post_process": method}

    def answer(self, samples: Sequence[Sample]) -> list[SegmentationPrediction]:
        """The segments of each image, at the image's size."""
        method = _choose_method(self.pretrained.processor)
        task = "semantic" if "semantic" in method else "instance"
        outputs = self.pretrained.forward(**prepare(self.pretrained, samples, task))
        arguments = {
            "threshold": self._options.threshold,
            "target_sizes": sizes(samples),
            "task_type": task,
            "return_coco_annotation": False,
        }
        try:
            found = self.pretrained.post_process(method, outputs, arguments)
        except AttributeError as error:
            raise AdapterError(
                f"{type(self.pretrained.module).__name__} puts out no segments: {error}",
                hint="is it for boxes? --task object_detection",
            ) from error
        read = self._read_classes if task == "semantic" else self._read_segments
        return [read(one) for one in found]

    def _read_segments(self, found: Mapping[str, Any]) -> SegmentationPrediction:
        ids = _numbers(found["segmentation"])
        mask = np.zeros(ids.shape, np.int32)
        scores: dict[int, float] = {}
        labels: dict[int, str] = {}
        # Processors also list segments that lost all of their pixels to surer ones.
        drawn = set(np.unique(ids).tolist())
        listed = [info for info in found["segments_info"] if info["id"] in drawn]
        ranked = sorted(listed, key=lambda info: (-info["score"], info["id"]))
        for segment, info in enumerate(ranked, start=1):
            mask[ids == info["id"]] = segment
            scores[segment] = float(info["score"])
            labels[segment] = self._name(info["label_id"])
        return SegmentationPrediction(mask, scores, labels)

    def _read_classes(self, found: Any) -> SegmentationPrediction:
        classes = _numbers(found)
        present = [int(index) for index in np.unique(classes) if index >= 0]
        mask = np.zeros(classes.shape, np.int32)
        for segment, index in enumerate(present, start=1):
            mask[classes == index] = segment
        names = {segment: self._name(index) for segment, index in enumerate(present, start=1)}
        return SegmentationPrediction(mask, None, names)

    def _name(self, index: int) -> str:
        return self._options.rename(self.pretrained.label(index))


def _choose_method(processor: Any) -> Method:
    """The first post-processing that a processor has; raises AdapterError where it has none."""
    for method in METHODS:
        if callable(getattr(processor, method, None)):
            return method
    raise AdapterError(
        f"{type(processor).__name__} has no post-processing for segments",
        hint=f"one of these was expected: {', '.join(METHODS)}",
    )


def _numbers(tensor: Any) -> NDArray[np.int64]:
    """Whole numbers of a map, some of which processors keep as floats."""
    return np.asarray(tensor.cpu().numpy()).astype(np.int64)
