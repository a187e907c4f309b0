"""What is offered for segments and for classes alike."""

from __future__ import annotations

from rpx_core.specs import DatasetSpec, MetricSpec, ModelSpec

_BOTH = ("object_segmentation", "semantic_segmentation")
_METRICS = "rpx_seg.metrics"
_MODELS = "rpx_seg.models"
STABILITY = {"rpx-1": "label-stability-published", "rpx-2": "label-stability"}

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="label-stability",
        summary="whether labels change from frame to frame where the true ones do (rpx-2)",
        target=f"{_METRICS}.stability:LabelStability",
        tasks=_BOTH,
    ),
    MetricSpec(
        name="label-stability-published",
        summary="how little masks change from frame to frame, as published (rpx-1)",
        target=f"{_METRICS}.stability:PublishedLabelStability",
        tasks=_BOTH,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="hf",
        summary="any segmenter of transformers, from a folder or the hub",
        target=f"{_MODELS}.hf:load",
        options=f"{_MODELS}.hf_networks:HfSegmentationOptions",
        argument="checkpoint",
        does=f"{_MODELS}.hf:tasks",
        tasks=_BOTH,
        extra="hf",
        modules=("torch", "transformers"),
    ),
)

DATASETS: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="mask-folders",
        summary="parallel folders rgb/ and masks/ or semantic/ with equal file names",
        target="rpx_seg.layouts.mask_folders:open_mask_folders",
        options="rpx_seg.layouts.mask_folders:MaskFoldersOptions",
        tasks=_BOTH,
        layout=True,
    ),
)
