"""Models with learned weights: any detector of transformers."""

from __future__ import annotations

from rpx_core.specs import ModelSpec

_MODELS = "rpx_detection.models"

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="hf",
        summary="any detector of transformers, from a folder or the hub",
        target=f"{_MODELS}.hf:load",
        options=f"{_MODELS}.hf_options:HfDetectionOptions",
        argument="checkpoint",
        does=f"{_MODELS}.hf:tasks",
        tasks=("object_detection", "open_vocab_detection", "visual_grounding"),
        extra="hf",
        modules=("torch", "transformers"),
    ),
)
