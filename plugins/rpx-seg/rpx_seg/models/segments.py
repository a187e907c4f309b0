"""From a network's outputs to segments, by whichever post-processing its processor has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import AdapterError
from rpx_core.inference.processors import check_tensor, find_part, post_process
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

Shape = tuple[int, int]


@dataclass(frozen=True)
class SegmentReader:
    """Reads segments off the outputs of whatever network, with the processor that belongs to it.

    They are numbered anew from 1, the surest first: processors number them from 0, or mark the rest
    with -1, which would collide with the background 0. `threshold` is the least score of a segment.
    `name` gives classes their names; without it segments have none.
    """

    processor: Any
    threshold: float = 0.5
    name: Callable[[int], str] | None = None

    @property
    def method(self) -> Method:
        """The post-processing; raises AdapterError where the processor has none for segments."""
        for method in METHODS:
            if callable(getattr(self.processor, method, None)):
                return method
        raise AdapterError(
            f"{type(self.processor).__name__} has no post-processing for segments",
            hint=f"one of these was expected: {', '.join(METHODS)}",
        )

    @property
    def task(self) -> str:
        """What networks that are told in words what to do are told."""
        return "semantic" if "semantic" in self.method else "instance"

    def read(self, outputs: Any, shapes: Sequence[Shape]) -> list[SegmentationPrediction]:
        """The segments of images of these shapes; raises AdapterError where outputs hold none."""
        arguments = {
            "threshold": self.threshold,
            "target_sizes": list(shapes),
            "task_type": self.task,
            "return_coco_annotation": False,
        }
        try:
            found = post_process(self.processor, self.method, outputs, arguments)
        except (AttributeError, TypeError) as error:
            raise AdapterError(
                f"{type(self.processor).__name__}.{self.method}() finds no segments in what the "
                f"network returned ({type(outputs).__name__}): {error}",
                hint="the network may be for another task, such as object_detection",
            ) from error
        read = self._read_classes if self.task == "semantic" else self._read_segments
        return [read(one, shape) for one, shape in zip(found, shapes, strict=True)]

    def _read_segments(self, found: Any, shape: Shape) -> SegmentationPrediction:
        who = self._who
        ids = read_ids(find_part(found, "segmentation", who), shape, who)
        mask = np.zeros(ids.shape, np.int32)
        scores: dict[int, float] = {}
        labels: dict[int, str] = {}
        # Processors also list segments that lost all of their pixels to surer ones.
        drawn = set(np.unique(ids).tolist())
        listed = [
            {key: find_part(info, key, f"{who}, in segments_info,") for key in _INFO}
            for info in find_part(found, "segments_info", who)
        ]
        ranked = sorted(
            (info for info in listed if info["id"] in drawn),
            key=lambda info: (-info["score"], info["id"]),
        )
        for segment, info in enumerate(ranked, start=1):
            mask[ids == info["id"]] = segment
            scores[segment] = float(info["score"])
            if self.name is not None:
                labels[segment] = self.name(info["label_id"])
        return SegmentationPrediction(mask, scores, None if self.name is None else labels)

    def _read_classes(self, found: Any, shape: Shape) -> SegmentationPrediction:
        classes = read_ids(found, shape, self._who)
        present = [int(index) for index in np.unique(classes) if index >= 0]
        mask = np.zeros(classes.shape, np.int32)
        for segment, index in enumerate(present, start=1):
            mask[classes == index] = segment
        if self.name is None:
            return SegmentationPrediction(mask)
        names = {segment: self.name(index) for segment, index in enumerate(present, start=1)}
        return SegmentationPrediction(mask, None, names)

    @property
    def _who(self) -> str:
        return f"{type(self.processor).__name__}.{self.method}()"


_INFO = ("id", "score", "label_id")


def read_ids(found: Any, shape: Shape, who: str) -> NDArray[np.int64]:
    """Whole numbers of a map, some of which processors keep as floats.

    Raises AdapterError, beginning with `who` returned it, for anything but a map of that shape.
    """
    tensor = check_tensor(found, who, f"shape {tuple(shape)}")
    if tuple(tensor.shape) != tuple(shape):
        raise AdapterError(
            f"{who} returned a map of shape {tuple(tensor.shape)}; {tuple(shape)}, as the image "
            "has it, was expected"
        )
    return np.asarray(tensor.detach().cpu().numpy()).astype(np.int64)
