"""Semantic segmentation with networks of the `transformers` library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ModelError, first_few
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import Pretrained, sizes, versions
from rpx_seg.models.hf_networks import HfSegmentationOptions, load_segmenter, prepare
from rpx_seg.types import SemanticPrediction, SemanticQuery

class HfClasses:
    """A segmenter and its processor, whose `post_process_semantic_segmentation` has the word.

    Where the data names its classes, ids are translated by name. Where it does not, they stay the
    checkpoint's own: translate them with the task's option `prediction_map`.
    """

    def __init__(self, options: HfSegmentationOptions) -> None:
        self._options = options
        self._pretrained: Pretrained | None = None

    @property
    def module(self) -> Any:
        """The network."""
        return self._pretrained.module if self._pretrained else None
