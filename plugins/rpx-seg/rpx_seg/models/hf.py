"""Any segmenter of the `transformers` library, from a folder or the hub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpx_core.checkpoints import architectures
from rpx_core.contracts import Runtime
from rpx_core.inference.model import TorchModel
from rpx_seg.models.hf_classes import HfClasses
from rpx_seg.models.hf_instances import HfInstances
from rpx_seg.models.hf_networks import SEMANTIC, HfSegmentationOptions, tasks_of


def load(options: HfSegmentationOptions, runtime: Runtime) -> TorchModel:
    """The model for the task of the run, on its device."""
    kind = HfClasses if runtime.task in SEMANTIC else HfInstances
    return TorchModel(kind(options), runtime, options)


def tasks(options: Mapping[str, Any]) -> tuple[str, ...] | None:
    """What a checkpoint can do, by the class that it names; None where nothing names one."""
    found = architectures(options)
    if found is None:
        return None
    return tasks_of(found)
