"""The learned perceptual distance LPIPS between the synthesised view and the true one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from rpx_core.contracts import Output, ResultMap, Sample, Undefined, Unit
from rpx_core.errors import MetricError
from rpx_core.state import Sum
from rpx_nvs.colours import to_unit
from rpx_nvs.perceptual.network import SMALLEST, PerceptualDistance
from rpx_nvs.perceptual.weights import load_heads, load_trunk
from rpx_nvs.regions import why_not_whole
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction


@dataclass(frozen=True)
class DistanceSums:
    """Images and their summed distance; adding pools images."""

    images: Sum
    distance: Sum


def load_distance() -> PerceptualDistance:
    """The distance with its published weights; raises MetricError where they cannot be had."""
    return PerceptualDistance(load_trunk(), load_heads())


class Lpips:
    """LPIPS, AlexNet features, version 0.1: how different two images look to a network.

    The formula is in `rpx_nvs.perceptual.network`. Images (H, W, 3) are scaled from [0, 1] to [-1,
    1] here, so 8-bit and float images of the same colours give one value. 0 is perfect, no upper
    end, lower is better. Undefined below 31x31 pixels, and where a mask leaves pixels out: the
    network's features reach across any mask. The mean over images is the same pooled or not. Raises
    MetricError without PyTorch or weights. Source: Zhang et al. 2018.

    Traps: values of other trunks (VGG, SqueezeNet) and of version 0.0 are not comparable. The
    trunk's weights are fetched when first used, and every sample fails where they cannot be had.
    """

    version: ClassVar[str] = "1"
    unit: ClassVar[Unit] = Unit.SAMPLE
    State: ClassVar[type] = DistanceSums
    outputs: Mapping[str, Output] = MappingProxyType(
        {
            "lpips_alex": Output(
                better="lower", best=0.0,
                aggregates=("sample", "sample_median", "group"),
                summary="LPIPS distance, AlexNet trunk, version 0.1",
            )
        }
    )  # fmt: skip

    def __init__(self, load: Callable[[], PerceptualDistance] = load_distance) -> None:
        # Loaded when first needed: reports build metrics too, where there may be no weights.
        self._load = load
        self._distance: PerceptualDistance | None = None
        self._failure: MetricError | None = None

    def measure(
        self,
        sample: Sample,
        truth: NovelViewSynthesisGroundTruth,
        prediction: NovelViewSynthesisPrediction,
    ) -> DistanceSums | Undefined:
        """The distance of one image, or why it has none."""
        undefined = why_not_whole(truth, SMALLEST)
        if undefined is not None:
            return undefined
        network = self._network()
        return DistanceSums(1, network.measure(to_unit(prediction.rgb), to_unit(truth.rgb)))

    def result(self, state: DistanceSums) -> ResultMap:
        """The distance of one image, or the mean over many."""
        return {"lpips_alex": float(state.distance) / int(state.images)}

    def _network(self) -> PerceptualDistance:
        """The distance, loaded once; what failed once is not tried again for every sample."""
        if self._failure is not None:
            raise MetricError(self._failure.message, hint=self._failure.hint)
        if self._distance is None:
            try:
                self._distance = self._load()
            except MetricError as error:
                self._failure = error
                raise
        return self._distance
