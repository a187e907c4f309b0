"""UniDepth V2: metric depth and camera from one image, by its authors' own package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError, ModelError
from rpx_core.inference.devices import Placement
from rpx_core.inference.model import SETUP_FIRST, TorchModel
from rpx_core.inference.pretrained import PretrainedOptions, check_checkpoint, copy_images, locate
from rpx_core.inference.processors import find_part
from rpx_depth.models.maps import Expected
from rpx_depth.resize import resize_depth
from rpx_depth.types import DepthPrediction


class UniDepthOptions(PretrainedOptions):
    """Which weights, and which camera the network is told.

    `camera` is `predicted`, as published: the network estimates it from the image; with `given` it
    gets the sample's intrinsics. On a GPU its authors' code computes in float16 by itself.
    """

    camera: Literal["predicted", "given"] = "predicted"


class UniDepth:
    """Asks `infer(rgb, camera, normalize=True)` of the network, once per batch."""

    def __init__(self, options: UniDepthOptions) -> None:
        self._options = options
        self._placement: Placement | None = None
        self.module: Any = None

    def load(self, placement: Placement) -> None:
        """Load the weights with the authors' class."""
        from unidepth.models import UniDepthV2

        check_checkpoint(self._options)
        source, arguments = locate(self._options)
        network = UniDepthV2.from_pretrained(source, **arguments)
        self.module = network.to(placement.device, placement.torch_dtype).eval()
        self._placement = placement

    def describe(self) -> dict[str, str]:
        """The weights, and where the camera comes from."""
        return {"checkpoint": self._options.described(), "camera": self._options.camera}

    def answer(self, samples: Sequence[Sample]) -> list[DepthPrediction]:
        """One map per image, of the image's size."""
        import torch

        if self._placement is None:
            raise AdapterError("the checkpoint is not loaded", hint=SETUP_FIRST)
        # Colours stay 0 to 255: with `normalize` the network divides them itself.
        rgb = torch.from_numpy(np.stack(copy_images(samples))).permute(0, 3, 1, 2)
        found = self.module.infer(
            self._placement.move(rgb.float()), self._cameras(samples), normalize=True
        )
        who = f"{type(self.module).__name__}.infer()"
        depth = find_part(found, "depth", who)
        shape = tuple(rgb.shape[-2:])
        return [
            DepthPrediction(resize_depth(one.cpu().numpy(), shape))
            for one in Expected(len(samples), shape).read(depth, who)
        ]

    def _cameras(self, samples: Sequence[Sample]) -> Any:
        if self._options.camera == "predicted":
            return None
        import torch

        for sample in samples:
            if sample.intrinsics is None:
                raise ModelError(
                    f"sample {sample.id}: has no intrinsics to give to the network",
                    hint="list `intrinsics` in the manifest, or --set "
                    "model.options.camera=predicted",
                )
        stacked = np.stack([np.asarray(sample.intrinsics, np.float32) for sample in samples])
        return torch.from_numpy(stacked)


def load(options: UniDepthOptions, runtime: Runtime) -> TorchModel:
    """The model, on the device of the run."""
    return TorchModel(UniDepth(options), runtime, options)
