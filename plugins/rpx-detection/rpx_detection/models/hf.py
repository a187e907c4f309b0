"""Any detector of the `transformers` library, from a folder or the hub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpx_core.checkpoints import architectures, local_config
from rpx_core.contracts import Runtime
from rpx_core.inference.model import Network, TorchModel
from rpx_detection.models.hf_detector import HfDetector
from rpx_detection.models.hf_options import HfDetectionOptions
from rpx_detection.models.hf_prompted import HfGrounder, HfOpenVocab

_PROMPTED = ("omdet-turbo", "grounding-dino", "mm-grounding-dino", "owlv2", "owlvit")
"""Kinds of networks that are told in words what to look for."""


def load(options: HfDetectionOptions, runtime: Runtime) -> TorchModel:
    """The model for the task of the run, on its device."""
    network: Network
    match runtime.task:
        case "visual_grounding":
            network = HfGrounder(options)
        case "open_vocab_detection":
            network = HfOpenVocab(options)
        case _:
            network = HfDetector(options)
    return TorchModel(network, runtime, options)


def tasks(options: Mapping[str, Any]) -> tuple[str, ...] | None:
    """What a checkpoint can do, by the class that it names; None where nothing names one."""
    found = architectures(options)
    if found is None:
        return None
    if not any(name.endswith("ForObjectDetection") for name in found):
        return ()
    kind = (local_config(options) or {}).get("model_type")
    is_prompted = kind in _PROMPTED
    return ("open_vocab_detection", "visual_grounding") if is_prompted else ("object_detection",)
