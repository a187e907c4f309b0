"""Instance segmentation with networks of the `transformers` library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import Pretrained, sizes, versions
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


class HfInstances:
    """A segmenter and its processor, whose own post-processing finds the segments.

    Segments are numbered anew from 1, the surest first: processors number them from 0, or mark
    the rest with -1, which would collide with the background 0. With a panoptic network, walls and
    floors are segments too. A semantic network gives one segment for each class, without scores.
    """

    def __init__(self, options: HfSegmentationOptions) -> None:
        self._options = options
        self._pretrained: Pretrained | None = None

    @property
    def module(self) -> Any:
        """The network."""
        return self._pretrained.module if self._pretrained else None
