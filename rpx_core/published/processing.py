"""What the published adapters around processors of `transformers` share."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from rpx_core.adapters import image_size
from rpx_core.contracts import Sample
from rpx_core.inference.devices import AUTO, Placement, choose_device, place
from rpx_core.published.models import InputAdapter, PreparedInput


class ProcessorInput(InputAdapter):
    """Gives images to a processor, and what that makes of them to a device.

    The context holds `shape`, the height and width of the image, and `grid`, those of what the
    network sees. A subclass says in `process` what the processor is given.
    """

    def __init__(self, processor: Any, device: Any = None) -> None:
        self.processor = processor
        self.device = device

    def setup(self) -> None:
        """Find the device; raises ModelError where torch cannot use it."""
        _ = self._placement

    def prepare(self, sample: Sample) -> PreparedInput:
        """The network's named inputs for one image, on the device."""
        from rpx_core.inference.processors import grid_of

        inputs = self.process(sample)
        context = {"shape": image_size(sample), "grid": grid_of(inputs)}
        return PreparedInput(self._placement.move(inputs), context)

    def process(self, sample: Sample) -> Any:
        """What the processor makes of one sample."""
        from rpx_core.inference.pretrained import copy_images

        return self.processor(images=copy_images([sample]), return_tensors="pt")

    def describe(self) -> dict[str, str]:
        """Device, number format, and the processor's class."""
        return self._placement.describe() | {"processor": type(self.processor).__name__}

    @cached_property
    def _placement(self) -> Placement:
        wanted = AUTO if self.device is None else str(self.device)
        return place(choose_device(wanted, uses_torch=True), "float32")
