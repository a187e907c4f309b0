"""What rpx-seg offers to rpx: specs only, nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import AdapterSpec, DatasetSpec, MetricSpec, ModelSpec, TaskSpec

_INSTANCE = ("object_segmentation",)
_SEMANTIC = ("semantic_segmentation",)
_BOTH = (*_INSTANCE, *_SEMANTIC)
_STABILITY = {"rpx-1": "label-stability-published", "rpx-2": "label-stability"}


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer instance and semantic segmentation."""
    return [
        TaskSpec(
            name="object_segmentation",
            summary="a segment for every object of one image",
            target="rpx_seg.object_segmentation:ObjectSegmentation",
            options="rpx_seg.object_segmentation:ObjectSegmentationOptions",
            metrics={
                "masks": "mask-iou",
                "panoptic": "panoptic-quality",
                "boundary": "mask-boundary",
                "coco": "mask-ap",
            },
            stability=_STABILITY,
            primary="masks.miou",
            baseline="threshold",
            requires=("rgb", "mask"),
            assets=("boxes", "labels", "depth", "depth_scale"),
            adapter="numpy-mask",
        ),
        TaskSpec(
            name="semantic_segmentation",
            summary="the class of every pixel of one image",
            target="rpx_seg.semantic_segmentation:SemanticSegmentation",
            options="rpx_seg.semantic_segmentation:SemanticSegmentationOptions",
            metrics={"semantic": "semantic-iou", "boundary": "semantic-boundary"},
            stability=_STABILITY,
            primary="semantic.miou",
            baseline="threshold-semantic",
            requires=("rgb", "semantic"),
            assets=("labels", "depth", "depth_scale"),
            adapter="numpy-semantic",
        ),
    ]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer mask, panoptic, boundary and class metrics, and temporal stability."""
    metrics = "rpx_seg.metrics"
    classes = "rpx_seg.classes:ClassOptions"
    boundary = f"{metrics}.boundary:BoundaryOptions"
    return [
        MetricSpec(
            name="mask-iou",
            summary="mean IoU after the best assignment of segments, and of raw ids",
            target=f"{metrics}.masks:MaskIou",
            tasks=_INSTANCE,
        ),
        MetricSpec(
            name="panoptic-quality",
            summary="PQ, SQ, RQ: how many segments are found, and how well they fit",
            target=f"{metrics}.panoptic:PanopticQuality",
            options=classes,
            tasks=_INSTANCE,
        ),
        MetricSpec(
            name="mask-ap",
            summary="COCO mask AP and AR, for predictions with scores",
            target=f"{metrics}.precision:MaskAveragePrecision",
            options=classes,
            tasks=_INSTANCE,
        ),
        MetricSpec(
            name="mask-boundary",
            summary="boundary IoU of assigned segments, boundary F of all outlines",
            target=f"{metrics}.boundary:MaskBoundary",
            options=boundary,
            tasks=_INSTANCE,
        ),
        MetricSpec(
            name="semantic-iou",
            summary="IoU, Dice and accuracies from the confusion matrix of classes",
            target=f"{metrics}.semantic:SemanticIou",
            options=f"{metrics}.semantic:SemanticIouOptions",
            tasks=_SEMANTIC,
        ),
        MetricSpec(
            name="semantic-boundary",
            summary="boundary IoU of classes, boundary F of all outlines",
            target=f"{metrics}.boundary:SemanticBoundary",
            options=boundary,
            tasks=_SEMANTIC,
        ),
        MetricSpec(
            name="label-stability",
            summary="whether labels change from frame to frame where the true ones do (rpx-2)",
            target=f"{metrics}.stability:LabelStability",
            tasks=_BOTH,
        ),
        MetricSpec(
            name="label-stability-published",
            summary="how little masks change from frame to frame, as published (rpx-1)",
            target=f"{metrics}.stability:PublishedLabelStability",
            tasks=_BOTH,
        ),
    ]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer the adapters for functions from image to ids."""
    return [
        AdapterSpec(
            name="numpy-mask",
            summary="a function from RGB to instance ids, brought to the image's size",
            target="rpx_seg.adapters:wrap",
            tasks=_INSTANCE,
        ),
        AdapterSpec(
            name="numpy-semantic",
            summary="a function from RGB to class ids, brought to the image's size",
            target="rpx_seg.adapters:wrap_semantic",
            tasks=_SEMANTIC,
        ),
    ]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer models that need no learned weights, and any of transformers."""
    models = "rpx_seg.models"
    return [
        ModelSpec(
            name="hf",
            summary="any segmenter of transformers, from a folder or the hub",
            target=f"{models}.hf:load",
            options=f"{models}.hf_networks:HfSegmentationOptions",
            argument="checkpoint",
            does=f"{models}.hf:tasks",
            tasks=_BOTH,
            extra="hf",
            modules=("torch", "transformers"),
        ),
        ModelSpec(
            name="threshold",
            summary="compact blobs of one colour on a table",
            target=f"{models}.threshold:load",
            options=f"{models}.threshold:ThresholdOptions",
            tasks=_INSTANCE,
        ),
        ModelSpec(
            name="threshold-semantic",
            summary="table, wall, floor and objects by colour, place and shape",
            target=f"{models}.threshold_semantic:load",
            options=f"{models}.threshold_semantic:ThresholdSemanticOptions",
            tasks=_SEMANTIC,
        ),
        ModelSpec(
            name="slic",
            summary="superpixels of similar colour and size (scikit-image)",
            target=f"{models}.superpixels:load_slic",
            options=f"{models}.superpixels:SlicOptions",
            tasks=_INSTANCE,
            extra="superpixels",
            modules=("skimage",),
        ),
        ModelSpec(
            name="felzenszwalb",
            summary="regions of similar colour (scikit-image)",
            target=f"{models}.superpixels:load_felzenszwalb",
            options=f"{models}.superpixels:FelzenszwalbOptions",
            tasks=_INSTANCE,
            extra="superpixels",
            modules=("skimage",),
        ),
        ModelSpec(
            name="grabcut",
            summary="the object inside each given box (OpenCV)",
            target=f"{models}.grabcut:load",
            options=f"{models}.grabcut:GrabCutOptions",
            tasks=_INSTANCE,
            needs=("boxes",),
            extra="grabcut",
            modules=("cv2",),
        ),
    ]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the folder layout in which masks are usually kept."""
    return [
        DatasetSpec(
            name="mask-folders",
            summary="parallel folders rgb/ and masks/ or semantic/ with equal file names",
            target="rpx_seg.layouts.mask_folders:open_mask_folders",
            options="rpx_seg.layouts.mask_folders:MaskFoldersOptions",
            tasks=_BOTH,
            layout=True,
        )
    ]
