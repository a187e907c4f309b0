"""Checkpoints of `transformers` with tiny random networks, written as their library writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLASSES = {0: "table", 1: "wall", 2: "floor", 3: "mug"}
"""What the classes of every tiny checkpoint are called."""


def write(folder: Path, kind: str) -> Path:
    """A folder with the configuration, weights and processor of one kind of network."""
    import torch

    # One seed for each: a checkpoint must not depend on those written before.
    torch.manual_seed(sum(map(ord, kind)))
    target = folder / kind
    for part in _oneformer(target) if kind == "oneformer" else _KINDS[kind]():
        part.save_pretrained(target)
    return target


def _dpt() -> tuple[Any, ...]:
    from transformers import DPTConfig, DPTForDepthEstimation, DPTImageProcessor

    return DPTForDepthEstimation(DPTConfig(**_dpt_sizes())), DPTImageProcessor(
        size={"height": 64, "width": 64}
    )


def _dpt_sizes() -> dict[str, Any]:
    return {
        "hidden_size": 16,
        "num_hidden_layers": 4,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "image_size": 64,
        "patch_size": 16,
        "backbone_out_indices": [0, 1, 2, 3],
        "neck_hidden_sizes": [8, 8, 8, 8],
        "fusion_hidden_size": 8,
    }


def _depth_anything() -> tuple[Any, ...]:
    from transformers import (
        DepthAnythingConfig,
        DepthAnythingForDepthEstimation,
        Dinov2Config,
        DPTImageProcessor,
    )

    backbone = Dinov2Config(
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        image_size=56,
        patch_size=14,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        reshape_hidden_states=False,
        apply_layernorm=True,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=16,
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        head_hidden_size=8,
        depth_estimation_type="metric",
        max_depth=10,
    )
    processor = DPTImageProcessor(
        size={"height": 56, "width": 56}, ensure_multiple_of=14, keep_aspect_ratio=True
    )
    return DepthAnythingForDepthEstimation(config), processor


def _glpn() -> tuple[Any, ...]:
    from transformers import GLPNConfig, GLPNForDepthEstimation, GLPNImageProcessor

    config = GLPNConfig(
        hidden_sizes=[8, 8, 16, 16],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 1, 2, 2],
        mlp_ratios=[2, 2, 2, 2],
        decoder_hidden_size=8,
    )
    return GLPNForDepthEstimation(config), GLPNImageProcessor()


def _zoedepth() -> tuple[Any, ...]:
    from transformers import (
        BeitConfig,
        ZoeDepthConfig,
        ZoeDepthForDepthEstimation,
        ZoeDepthImageProcessor,
    )

    backbone = BeitConfig(
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=64,
        patch_size=16,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        reshape_hidden_states=False,
    )
    config = ZoeDepthConfig(
        backbone_config=backbone,
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        bottleneck_features=8,
        num_relative_features=8,
        bin_configurations=[{"n_bins": 8, "min_depth": 0.001, "max_depth": 10.0, "name": "nyu"}],
        bin_embedding_dim=8,
        num_attractors=[2, 2, 2, 2],
        patch_transformer_hidden_size=8,
        patch_transformer_intermediate_size=16,
        patch_transformer_num_attention_heads=2,
        backbone="",
    )
    processor = ZoeDepthImageProcessor(size={"height": 64, "width": 64})
    return ZoeDepthForDepthEstimation(config), processor


def _segformer() -> tuple[Any, ...]:
    from transformers import (
        SegformerConfig,
        SegformerForSemanticSegmentation,
        SegformerImageProcessor,
    )

    config = SegformerConfig(
        hidden_sizes=[8, 8, 16, 16],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 1, 2, 2],
        mlp_ratios=[2, 2, 2, 2],
        decoder_hidden_size=16,
        **_names(),
    )
    processor = SegformerImageProcessor(size={"height": 64, "width": 64})
    return SegformerForSemanticSegmentation(config), processor


def _mask2former() -> tuple[Any, ...]:
    from transformers import (
        Mask2FormerConfig,
        Mask2FormerForUniversalSegmentation,
        Mask2FormerImageProcessor,
    )

    config = Mask2FormerConfig(
        backbone_config=_swin(),
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_layers=1,
        encoder_feedforward_dim=16,
        dim_feedforward=16,
        decoder_layers=2,
        num_attention_heads=2,
        num_queries=8,
        **_names(),
    )
    processor = Mask2FormerImageProcessor(size={"height": 64, "width": 64}, size_divisor=32)
    return Mask2FormerForUniversalSegmentation(config), processor


def _maskformer() -> tuple[Any, ...]:
    from transformers import (
        DetrConfig,
        MaskFormerConfig,
        MaskFormerForInstanceSegmentation,
        MaskFormerImageProcessor,
    )

    config = MaskFormerConfig(
        backbone_config=_swin(),
        decoder_config=DetrConfig(**_detr_sizes()),
        fpn_feature_size=32,
        mask_feature_size=32,
        **_names(),
    )
    processor = MaskFormerImageProcessor(size={"height": 64, "width": 64}, size_divisor=32)
    return MaskFormerForInstanceSegmentation(config), processor


def _oneformer(target: Path) -> tuple[Any, ...]:
    from transformers import (
        CLIPTokenizer,
        OneFormerConfig,
        OneFormerForUniversalSegmentation,
        OneFormerImageProcessor,
        OneFormerProcessor,
    )

    config = OneFormerConfig(
        backbone_config=_swin(),
        hidden_dim=32,
        mask_dim=32,
        conv_dim=32,
        encoder_feedforward_dim=16,
        encoder_layers=1,
        decoder_layers=2,
        dim_feedforward=16,
        num_attention_heads=2,
        num_queries=8,
        text_encoder_width=32,
        text_encoder_context_length=16,
        text_encoder_num_layers=1,
        text_encoder_vocab_size=600,
        text_encoder_proj_layers=1,
        text_encoder_n_ctx=2,
        task_seq_len=16,
        query_dec_layers=1,
        use_auxiliary_loss=False,
        **_names(),
    )
    target.mkdir(parents=True, exist_ok=True)
    classes = {index: {"name": name, "isthing": 1} for index, name in CLASSES.items()}
    (target / "classes.json").write_text(json.dumps(classes))
    images = OneFormerImageProcessor(
        size={"height": 64, "width": 64},
        num_text=4,
        repo_path=str(target),
        class_info_file="classes.json",
    )
    processor = OneFormerProcessor(
        image_processor=images,
        tokenizer=_clip_tokenizer(CLIPTokenizer),
        max_seq_length=16,
        task_seq_length=16,
    )
    return OneFormerForUniversalSegmentation(config), processor


def _detr_panoptic() -> tuple[Any, ...]:
    from transformers import DetrConfig, DetrForSegmentation, DetrImageProcessor

    return DetrForSegmentation(DetrConfig(**_detr_sizes(), **_resnet(), **_names())), (
        DetrImageProcessor(**_detr_images())
    )


def _detr() -> tuple[Any, ...]:
    from transformers import DetrConfig, DetrForObjectDetection, DetrImageProcessor

    config = DetrConfig(**_detr_sizes(), **_resnet(), **_names())
    return DetrForObjectDetection(config), DetrImageProcessor(**_detr_images())


def _yolos() -> tuple[Any, ...]:
    from transformers import YolosConfig, YolosForObjectDetection, YolosImageProcessor

    config = YolosConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=[64, 64],
        patch_size=16,
        num_detection_tokens=6,
        **_names(),
    )
    return YolosForObjectDetection(config), YolosImageProcessor(**_detr_images())


def _rt_detr() -> tuple[Any, ...]:
    from transformers import (
        RTDetrConfig,
        RTDetrForObjectDetection,
        RTDetrImageProcessor,
        RTDetrResNetConfig,
    )

    backbone = RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 8, 16, 16],
        depths=[1, 1, 1, 1],
        out_features=["stage2", "stage3", "stage4"],
        layer_type="basic",
    )
    config = RTDetrConfig(
        backbone_config=backbone,
        encoder_hidden_dim=16,
        encoder_in_channels=[8, 16, 16],
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        decoder_in_channels=[16, 16, 16],
        d_model=16,
        num_queries=10,
        decoder_ffn_dim=16,
        decoder_layers=2,
        decoder_attention_heads=2,
        decoder_n_points=2,
        **_names(),
    )
    return RTDetrForObjectDetection(config), RTDetrImageProcessor(size={"height": 64, "width": 64})


def _owlv2() -> tuple[Any, ...]:
    from transformers import (
        CLIPTokenizer,
        Owlv2Config,
        Owlv2ForObjectDetection,
        Owlv2ImageProcessor,
        Owlv2Processor,
    )

    shared = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    text = {**shared, "vocab_size": 600, "max_position_embeddings": 16}
    config = Owlv2Config(
        text_config={**text, "bos_token_id": 188, "eos_token_id": 189, "pad_token_id": 0},
        vision_config={**shared, "image_size": 64, "patch_size": 16},
        projection_dim=16,
    )
    processor = Owlv2Processor(
        image_processor=Owlv2ImageProcessor(size={"height": 64, "width": 64}),
        tokenizer=_clip_tokenizer(CLIPTokenizer),
    )
    return Owlv2ForObjectDetection(config), processor


def _grounding_dino() -> tuple[Any, ...]:
    from transformers import (
        BertTokenizerFast,
        GroundingDinoConfig,
        GroundingDinoForObjectDetection,
        GroundingDinoImageProcessor,
        GroundingDinoProcessor,
    )

    config = GroundingDinoConfig(
        backbone_config=_swin(["stage2", "stage3", "stage4"]),
        text_config={
            "model_type": "bert",
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "vocab_size": len(_WORDS),
        },
        d_model=32,
        num_queries=12,
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        decoder_layers=2,
        decoder_ffn_dim=16,
        decoder_attention_heads=2,
        encoder_n_points=2,
        decoder_n_points=2,
        num_feature_levels=4,
        max_text_len=32,
    )
    tokenizer = BertTokenizerFast(vocab={word: index for index, word in enumerate(_WORDS)})
    processor = GroundingDinoProcessor(
        image_processor=GroundingDinoImageProcessor(**_detr_images()), tokenizer=tokenizer
    )
    return GroundingDinoForObjectDetection(config), processor


def _names() -> dict[str, Any]:
    return {"id2label": CLASSES, "label2id": {name: index for index, name in CLASSES.items()}}


def _swin(features: list[str] | None = None) -> Any:
    from transformers import SwinConfig

    return SwinConfig(
        image_size=64,
        patch_size=4,
        embed_dim=8,
        depths=[1, 1, 1, 1],
        num_heads=[1, 1, 2, 2],
        window_size=2,
        out_features=features or ["stage1", "stage2", "stage3", "stage4"],
    )


def _detr_sizes() -> dict[str, Any]:
    return {
        "d_model": 64,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "encoder_attention_heads": 8,
        "decoder_attention_heads": 8,
        "encoder_ffn_dim": 16,
        "decoder_ffn_dim": 16,
        "num_queries": 8,
    }


def _resnet() -> dict[str, Any]:
    from transformers import ResNetConfig

    backbone = ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 8, 16, 16],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    return {"backbone_config": backbone, "use_timm_backbone": False, "backbone": None}


def _detr_images() -> dict[str, Any]:
    return {"size": {"shortest_edge": 64, "longest_edge": 96}}


def _clip_tokenizer(kind: Callable[..., Any]) -> Any:
    """A tokenizer of letters alone: 256 of them, the same at the end of a word, and two marks."""
    import tempfile

    from transformers.models.clip.tokenization_clip import CLIPTokenizer

    letters = [chr(c) for c in range(33, 127)]
    marks = ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = [*letters, *(f"{letter}</w>" for letter in letters), *marks]
    with tempfile.TemporaryDirectory() as folder:
        words, merges = Path(folder, "vocab.json"), Path(folder, "merges.txt")
        words.write_text(json.dumps({word: index for index, word in enumerate(vocabulary)}))
        merges.write_text("#version: 0.2\n")
        return CLIPTokenizer.from_pretrained(folder, model_max_length=16)


_WORDS = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", "the", "a", "red", "blue", "green",
    "yellow", "white", "mug", "box", "ball", "can", "table", "left", "right", "leftmost",
)  # fmt: skip

_KINDS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "dpt": _dpt,
    "depth_anything": _depth_anything,
    "glpn": _glpn,
    "zoedepth": _zoedepth,
    "segformer": _segformer,
    "mask2former": _mask2former,
    "maskformer": _maskformer,
    "detr_panoptic": _detr_panoptic,
    "detr": _detr,
    "yolos": _yolos,
    "rt_detr": _rt_detr,
    "owlv2": _owlv2,
    "grounding_dino": _grounding_dino,
}
