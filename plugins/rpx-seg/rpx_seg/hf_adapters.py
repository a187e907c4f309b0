"""Adapters between samples and a segmenter of `transformers` that the user has loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpx_core.adapters import image_size
from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError
from rpx_core.inference.processors import in_full_precision
from rpx_core.published.models import OutputAdapter
from rpx_core.published.processing import ProcessorInput
from rpx_seg.models.segments import SegmentReader
from rpx_seg.types import SegmentationPrediction


class HFInstanceSegInputAdapter(ProcessorInput):
    """Prepares an image with the processor of a segmenter.

    `device` is where the network is, as torch writes it; by default cuda where torch finds it, else
    cpu. The network itself is the user's to put there. Processors that put the task into words
    (OneFormer) are told which.
    """

    def process(self, sample: Sample) -> Any:
        """What the processor makes of one sample."""
        from rpx_seg.models.hf_networks import prepare

        return prepare(self.processor, [sample], SegmentReader(self.processor).task)


class HFInstanceSegOutputAdapter(OutputAdapter):
    """Reads the segments that a segmenter of `transformers` answers with.

    The processor's post-processing for instances has the word, else the one for panoptic segments,
    else the one for classes; without any, `setup()` raises AdapterError. Segments are numbered from
    1, the surest first; `threshold` is the least score of one. They have no class names: those are
    in the network's configuration, which `make_hf_instance_seg_model` reads.
    """

    def __init__(self, processor: Any, threshold: float = 0.5) -> None:
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise ConfigError(f"threshold is {threshold!r}; a number from 0 to 1 was expected")
        self.processor = processor
        self.threshold = threshold

    def setup(self) -> None:
        """Raise AdapterError where the processor has no post-processing for segments."""
        _ = self._reader.method

    def finalize(
        self, model_output: Any, context: Mapping[str, Any], sample: Sample
    ) -> SegmentationPrediction:
        """The segments of one image, at the image's size."""
        (found,) = self._reader.read(in_full_precision(model_output), [image_size(sample)])
        return found

    def describe(self) -> dict[str, str]:
        """The post-processing."""
        return {"post_process": self._reader.method}

    @property
    def _reader(self) -> SegmentReader:
        return SegmentReader(self.processor, self.threshold)
