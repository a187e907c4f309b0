"""A torch module with adapters: how samples become its input, and its output a prediction.

    $ python torch_module.py

The three parts are separate, so that each can be used again: another module with the same input,
another dataset with the same output. The adapters see samples without their ground truth.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import rpx_core as rpx


class TinyDepth(nn.Module):
    """Stands for a network of yours: inverse depth at a quarter of the image's size."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.features = nn.Sequential(nn.Conv2d(3, 16, 7, stride=4, padding=3), nn.GELU())
        self.head = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.head(self.features(image)))


class ToTensor(rpx.InputAdapter):
    """An image becomes float32 (1, 3, H, W), normalised; its size travels along as context."""

    def prepare(self, sample: rpx.Sample) -> rpx.PreparedInput:
        if sample.rgb is None:
            raise rpx.AdapterError(f"sample {sample.id}: has no image")
        # A copy: samples are read-only.
        image = torch.from_numpy(sample.rgb.copy()).permute(2, 0, 1)[None] / 255
        return rpx.PreparedInput((image - 0.45) / 0.225, {"size": sample.rgb.shape[:2]})


class ToDepth(rpx.OutputAdapter):
    """Inverse depth becomes metres at the image's size."""

    def finalize(
        self, model_output: torch.Tensor, context: dict[str, tuple[int, int]], sample: rpx.Sample
    ) -> rpx.DepthPrediction:
        inverse = nn.functional.interpolate(
            model_output, size=context["size"], mode="bilinear", align_corners=False
        )
        metres: NDArray[np.float32] = (1 / (0.1 + inverse))[0, 0].numpy()
        return rpx.DepthPrediction(metres)


def main() -> None:
    """Evaluate the module on part of the embedded demo set, and print the tables."""
    model = rpx.BenchmarkableModel(
        rpx.TaskType.MONOCULAR_DEPTH, ToTensor(), TinyDepth().eval(), ToDepth(), name="tiny-depth"
    )
    dataset = rpx.RPXDataset.from_name("demo", task="monocular_depth", limit=18)
    print(rpx.BenchmarkRunner(model, dataset).run())
    print(f"{rpx.count_parameters(model)} parameters")


if __name__ == "__main__":
    main()
