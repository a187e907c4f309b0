"""Any depth estimator of the `transformers` library, from a folder or the hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rpx_core.checkpoints import architectures
from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import AdapterError, kind_of
from rpx_core.inference.model import TorchModel
from rpx_core.inference.pretrained import (
    Classes,
    PretrainedNetwork,
    PretrainedOptions,
    copy_images,
    list_sizes,
)
from rpx_core.inference.processors import check_tensor, find_part, grid_of, post_process
from rpx_depth.models.maps import Expected
from rpx_depth.types import DepthPrediction

if TYPE_CHECKING:
    import torch

METHOD = "post_process_depth_estimation"


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

    classes = Classes("AutoModelForDepthEstimation", lacks="estimates no depth")

    def answer(self, samples: Sequence[Sample]) -> list[DepthPrediction]:
        """One map per image, of the image's size."""
        inputs = self.pretrained.processor(images=copy_images(samples), return_tensors="pt")
        outputs = self.pretrained.forward(**inputs)
        shapes = list_sizes(samples)
        maps = read_depth(self.pretrained.processor, outputs, shapes, grid_of(inputs))
        return [DepthPrediction(one.cpu().numpy()) for one in maps]


def read_depth(
    processor: Any,
    outputs: Any,
    shapes: Sequence[tuple[int, int]],
    grid: tuple[int, int] | None = None,
) -> list[torch.Tensor]:
    """Float32 depth maps of the shapes asked for, from the outputs of whatever network.

    `grid` is the size that the network saw, where that is known: processors may distort images.
    Raises AdapterError where outputs hold no depth, or another than of so many images.
    """
    if not hasattr(outputs, "predicted_depth"):
        raise AdapterError(
            f"the network returned no `predicted_depth` but {kind_of(outputs)}",
            hint="only depth estimators fit this task",
        )
    who = f"{type(outputs).__name__}.predicted_depth"
    expected = Expected(len(shapes), grid or shapes[0], "proportions" if grid else "any")
    raw = expected.read(outputs.predicted_depth, who)
    if not hasattr(processor, METHOD):
        return [resize(one, shape) for one, shape in zip(raw, shapes, strict=True)]
    arguments = {"target_sizes": list(shapes), "source_sizes": list(shapes)}
    who = f"{type(processor).__name__}.{METHOD}()"
    answers = post_process(processor, METHOD, outputs, arguments)
    maps = []
    for answer, shape in zip(answers, shapes, strict=True):
        one = find_part(answer, "predicted_depth", who)
        maps += Expected(1, shape, "exact").read(check_tensor(one, who, f"{shape}")[None], who)
    return maps


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
