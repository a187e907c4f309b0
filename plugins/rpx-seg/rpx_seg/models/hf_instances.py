"""Instance segmentation with networks of the `transformers` library."""

from __future__ import annotations

from collections.abc import Sequence

from rpx_core.contracts import Sample
from rpx_core.inference.devices import Placement
from rpx_core.inference.pretrained import Pretrained, PretrainedNetwork, list_sizes
from rpx_seg.models.hf_networks import HfSegmentationOptions, load_segmenter, prepare
from rpx_seg.models.segments import SegmentReader
from rpx_seg.types import SegmentationPrediction


class HfInstances(PretrainedNetwork[HfSegmentationOptions]):
    """A segmenter and its processor, whose own post-processing finds the segments.

    With a panoptic network, walls and floors are segments too. A semantic network gives one segment
    for each class, without scores.
    """

    def open(self, placement: Placement) -> Pretrained:
        """The class that the checkpoint names; AdapterError where no post-processing fits."""
        pretrained = load_segmenter(self._options, placement)
        _ = SegmentReader(pretrained.processor).method
        return pretrained

    def describe(self) -> dict[str, str]:
        """Checkpoint, classes, version of transformers, and the post-processing."""
        if self._pretrained is None:
            return {}
        method = SegmentReader(self._pretrained.processor).method
        return super().describe() | {"post_process": method}

    def answer(self, samples: Sequence[Sample]) -> list[SegmentationPrediction]:
        """The segments of each image, at the image's size."""
        processor = self.pretrained.processor
        reader = SegmentReader(processor, self._options.threshold, self._name)
        outputs = self.pretrained.forward(**prepare(processor, samples, reader.task))
        return reader.read(outputs, list_sizes(samples))

    def _name(self, index: int) -> str:
        return self._options.rename(self.pretrained.label(index))
