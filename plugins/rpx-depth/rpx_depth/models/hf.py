"""Any depth estimator of the `transformers` library, from a folder or the hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rpx_core.checkpoints import architectures
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError
from rpx_core.inference.model import TorchModel
from rpx_core.inference.pretrained import (
    Classes,
    Pretrained,
    PretrainedNetwork,
    PretrainedOptions,
    images,
    sizes,
)
from rpx_depth.types import DepthPrediction

if TYPE_CHECKING:
    import torch


class HfDepthOptions(PretrainedOptions):
    """`checkpoint` is a folder or a hub repository of any `AutoModelForDepthEstimation`.

    What it predicts is taken for metres. Many checkpoints (DPT, MiDaS, Depth Anything without
    `Metric`) predict disparity up to scale and shift: evaluate those with `--align disparity`.
    """


class HfDepth(PretrainedNetwork[HfDepthOptions]):
    """A depth estimator and its processor, whose `post_process_depth_estimation` has the word.

    It is given the image's size and, where it asks for it, the size of the source. A processor
    without that method leaves the map at the network's size: it is then brought to the image's by
    bicubic interpolation, as the method does where there is one.
    """

    classes = Classes("AutoModelForDepthEstimation")

    def answer(self, samples: Sequence[Sample]) -> list[DepthPrediction]:
        """One map per image, of the image's size."""
        inputs = self.pretrained.processor(images=images(samples), return_tensors="pt")
        outputs = self.pretrained.forward(**inputs)
        maps = read_depth(self.pretrained, outputs, sizes(samples))
        return [DepthPrediction(one.float().cpu().numpy()) for one in maps]


def read_depth(
    pretrained: Pretrained, outputs: Any, shapes: Sequence[tuple[int, int]]
) -> list[torch.Tensor]:
    """Depth maps of the shapes asked for; raises AdapterError where outputs hold none."""
    if not hasattr(outputs, "predicted_depth"):
        raise AdapterError(
            f"{type(pretrained.module).__name__} returned no `predicted_depth`",
            hint="only depth estimators fit this task",
        )
    if not hasattr(pretrained.processor, "post_process_depth_estimation"):
        return [
            resize(one, shape) for one, shape in zip(outputs.predicted_depth, shapes, strict=True)
        ]
    arguments = {"target_sizes": list(shapes), "source_sizes": list(shapes)}
    found = pretrained.post_process("post_process_depth_estimation", outputs, arguments)
    return [one["predicted_depth"] for one in found]


def resize(depth: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
    """One map (H', W') at another size, bicubic."""
    from torch.nn.functional import interpolate

    resized: torch.Tensor = interpolate(
        depth.float()[None, None], size=shape, mode="bicubic", align_corners=False
    )
    return resized[0, 0]


def tasks(options: Mapping[str, Any]) -> tuple[str, ...] | None:
    """What a checkpoint can do, by the class that it names; None where nothing names one."""
    found = architectures(options)
    if found is None:
        return None
    is_depth = any(name.endswith("ForDepthEstimation") for name in found)
    return ("monocular_depth", "sparse_depth") if is_depth else ()


def load(options: HfDepthOptions, runtime: Runtime) -> TorchModel:
    """The model, on the device of the run."""
    return TorchModel(HfDepth(options), runtime, options)
