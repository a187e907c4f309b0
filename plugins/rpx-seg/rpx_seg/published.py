"""The published names of this package, with their published signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rpx_seg.adapters import MaskFunction, NumpyMaskModel, NumpySemanticModel
from rpx_seg.hf_adapters import HFInstanceSegInputAdapter, HFInstanceSegOutputAdapter
from rpx_seg.types import (
    SegmentationGroundTruth,
    SegmentationPrediction,
    SemanticGroundTruth,
    SemanticPrediction,
)

if TYPE_CHECKING:
    from rpx_core.inference.model import TorchModel
    from rpx_seg.models.hf_networks import Hint

__all__ = [
    "HFInstanceSegInputAdapter",
    "HFInstanceSegOutputAdapter",
    "SegmentationGroundTruth",
    "SegmentationPrediction",
    "SemanticGroundTruth",
    "SemanticPrediction",
    "make_hf_instance_seg_model",
    "make_numpy_mask_model",
    "make_numpy_semantic_model",
]


def make_numpy_mask_model(fn: MaskFunction, *, name: str) -> NumpyMaskModel:
    """A segmentation model from `fn(rgb)`, which returns (H', W') whole instance ids, 0 background.

    What it returns is brought to the ground truth's size, which is the image's, by the nearest
    pixel.
    """
    return NumpyMaskModel(fn, name)


def make_numpy_semantic_model(fn: MaskFunction, *, name: str) -> NumpySemanticModel:
    """A model of `semantic_segmentation` from `fn(rgb)`, which returns (H', W') whole class ids.

    What it returns is brought to the image's size by the nearest pixel.
    """
    return NumpySemanticModel(fn, name)


def make_hf_instance_seg_model(
    checkpoint: str,
    *,
    device: str | None = None,
    threshold: float = 0.5,
    name: str | None = None,
    model_class_hint: Hint | None = None,
) -> TorchModel:
    """An instance segmentation model from a folder or a hub id: Mask2Former, DETR-panoptic, ...

    The processor's post-processing for instances has the word, else the one for panoptic segments,
    else the one for classes; without any, `setup()` raises AdapterError. Segments are numbered from
    1. `device` is as torch writes it; by default cuda where torch finds it, else cpu.
    """
    from rpx_core.inference.model import TorchModel, outside_runtime
    from rpx_core.parts import check_options
    from rpx_seg.models.hf_instances import HfInstances
    from rpx_seg.models.hf_networks import HfSegmentationOptions

    given = {
        "checkpoint": checkpoint,
        "threshold": threshold,
        "model_class_hint": model_class_hint,
    }
    who = "make_hf_instance_seg_model"
    options = check_options(HfSegmentationOptions, given, checkpoint, field_name=who)
    runtime = outside_runtime("object_segmentation", device)
    name = name or options.described()
    return TorchModel(HfInstances(options), runtime, options, name=name, like="rpx-seg/hf")
