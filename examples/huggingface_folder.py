"""A folder saved by transformers is a model: `--model hf:FOLDER`.

    $ python huggingface_folder.py checkpoint
    $ rpx run --task monocular_depth --model hf:checkpoint --limit 6

This file makes a checkpoint to run with: a Depth Anything of random weights, small enough for a
test. Yours comes from `save_pretrained`, or is the name of one on the hub, such as
`hf:depth-anything/Depth-Anything-V2-Metric-Indoor-Small-hf`, which is fetched when first used.
"""

from __future__ import annotations

import sys

import torch
from transformers import (
    DepthAnythingConfig,
    DepthAnythingForDepthEstimation,
    Dinov2Config,
    DPTImageProcessor,
)


def save_checkpoint(folder: str) -> None:
    """A tiny network with its image processor."""
    torch.manual_seed(0)
    backbone = Dinov2Config(
        hidden_size=32,
        num_hidden_layers=4,
        num_attention_heads=2,
        image_size=70,
        patch_size=14,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=32,
        neck_hidden_sizes=[8, 16, 32, 32],
        fusion_hidden_size=16,
        head_hidden_size=8,
        depth_estimation_type="metric",
        max_depth=5,
    )
    DepthAnythingForDepthEstimation(config).save_pretrained(folder)
    size = {"height": 70, "width": 98}
    DPTImageProcessor(size=size, ensure_multiple_of=14).save_pretrained(folder)


if __name__ == "__main__":
    save_checkpoint(sys.argv[1])
