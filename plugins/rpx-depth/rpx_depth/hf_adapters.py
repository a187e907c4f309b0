"""Adapters between samples and a depth estimator of `transformers` that the user has loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpx_core.adapters import image_size
from rpx_core.contracts import Sample
from rpx_core.inference.processors import in_full_precision
from rpx_core.published.models import OutputAdapter
from rpx_core.published.processing import ProcessorInput
from rpx_depth.types import DepthPrediction


class HFDepthInputAdapter(ProcessorInput):
    """Prepares an image with the processor of a depth estimator.

    `device` is where the network is, as torch writes it; by default cuda where torch finds it, else
    cpu. The network itself is the user's to put there.
    """


class HFDepthOutputAdapter(OutputAdapter):
    """Reads the depth map that a depth estimator of `transformers` answers with.

    The processor's `post_process_depth_estimation` has the word, and gets those arguments that its
    signature names; without one the map is brought to the image's size, bicubic. What comes out is
    taken for metres. Raises AdapterError where the network's outputs hold no such map.
    """

    def __init__(self, processor: Any) -> None:
        self.processor = processor

    def finalize(
        self, model_output: Any, context: Mapping[str, Any], sample: Sample
    ) -> DepthPrediction:
        """The map of one image, of the image's size."""
        from rpx_depth.models.hf import read_depth

        outputs = in_full_precision(model_output)
        shapes = [image_size(sample)]
        (depth,) = read_depth(self.processor, outputs, shapes, context.get("grid"))
        return DepthPrediction(depth.cpu().numpy())
