"""The LPIPS distance with AlexNet features, version 0.1.

Both images, scaled to [-1, 1], go through the five convolutional layers of AlexNet. At each layer
the features are divided by their length at every place, the squared difference is weighted by a
learned, non-negative weight per channel, summed over channels and averaged over places; the
distance is the sum over layers. Source: Zhang, Isola, Efros, Shechtman and Wang 2018.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

if TYPE_CHECKING:
    import torch

SMALLEST = 31
"""Pixels: a smaller image has nothing left before the third layer."""

# What the trunk's inputs are shifted and scaled by, in the range -1 to 1.
_SHIFT = (-0.030, -0.088, -0.188)
_SCALE = (0.458, 0.448, 0.450)
_LEAST_LENGTH = 1e-10


@dataclass(frozen=True)
class _Layer:
    """A convolution of the trunk: its key, weight shape, stride, padding, and a pool before it."""

    key: str
    shape: tuple[int, int, int, int]
    stride: int
    padding: int
    pooled: bool


_LAYERS = (
    _Layer("features.0", (64, 3, 11, 11), 4, 2, pooled=False),
    _Layer("features.3", (192, 64, 5, 5), 1, 2, pooled=True),
    _Layer("features.6", (384, 192, 3, 3), 1, 1, pooled=True),
    _Layer("features.8", (256, 384, 3, 3), 1, 1, pooled=False),
    _Layer("features.10", (256, 256, 3, 3), 1, 1, pooled=False),
)


class PerceptualDistance:
    """LPIPS from a trunk (AlexNet's state dictionary) and its heads, one weight per channel."""

    def __init__(
        self, trunk: Mapping[str, torch.Tensor], heads: Sequence[NDArray[np.float32]]
    ) -> None:
        import torch

        _check_trunk(trunk)
        self._trunk = trunk
        self._heads = [torch.from_numpy(head.astype(np.float32)) for head in heads]

    def measure(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
        """The distance of two images (H, W, 3) in [0, 1]; 0 for equal ones, no upper end."""
        import torch

        both = np.stack([first, second]).transpose(0, 3, 1, 2).astype(np.float32)
        with torch.inference_mode():
            images = torch.from_numpy(both * 2 - 1)
            distance = sum(
                float(self._compare(features, head))
                for features, head in zip(self._features(images), self._heads, strict=True)
            )
        return float(distance)

    def _features(self, images: torch.Tensor) -> Iterator[torch.Tensor]:
        import torch
        from torch.nn import functional

        shift, scale = (torch.tensor(values).view(1, 3, 1, 1) for values in (_SHIFT, _SCALE))
        features = (images - shift) / scale
        for layer in _LAYERS:
            if layer.pooled:
                features = functional.max_pool2d(features, kernel_size=3, stride=2)
            weight, bias = (self._trunk[f"{layer.key}.{name}"] for name in ("weight", "bias"))
            features = functional.relu(
                functional.conv2d(
                    features, weight, bias, stride=layer.stride, padding=layer.padding
                )
            )
            yield features

    @staticmethod
    def _compare(features: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        length = features.square().sum(dim=1, keepdim=True).sqrt()
        unit = features / (length + _LEAST_LENGTH)
        difference = (unit[0] - unit[1]).square()
        return (difference * head.view(-1, 1, 1)).sum(dim=0).mean()


def _check_trunk(trunk: Mapping[str, Any]) -> None:
    for layer in _LAYERS:
        weight = trunk.get(f"{layer.key}.weight")
        shape = None if weight is None else tuple(weight.shape)
        if shape != layer.shape or f"{layer.key}.bias" not in trunk:
            raise MetricError(
                f"the LPIPS trunk is not AlexNet: {layer.key}.weight is {shape}, expected "
                f"{layer.shape}"
            )
