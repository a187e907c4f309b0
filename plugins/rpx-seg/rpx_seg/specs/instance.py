"""What is offered for a segment of every object."""

from __future__ import annotations

from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, TaskSpec
from rpx_seg.specs.shared import STABILITY

_INSTANCE = ("object_segmentation",)
_METRICS = "rpx_seg.metrics"
_MODELS = "rpx_seg.models"

TASKS: tuple[TaskSpec, ...] = (
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
        stability=STABILITY,
        primary="masks.miou",
        baseline="threshold",
        requires=("rgb", "mask"),
        assets=("boxes", "labels", "depth", "depth_scale"),
        adapter="numpy-mask",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec(
        name="mask-iou",
        summary="mean IoU after the best assignment of segments, and of raw ids",
        target=f"{_METRICS}.masks:MaskIou",
        tasks=_INSTANCE,
    ),
    MetricSpec(
        name="panoptic-quality",
        summary="PQ, SQ, RQ: how many segments are found, and how well they fit",
        target=f"{_METRICS}.panoptic:PanopticQuality",
        options="rpx_seg.classes:ClassOptions",
        tasks=_INSTANCE,
    ),
    MetricSpec(
        name="mask-ap",
        summary="COCO mask AP and AR, for predictions with scores",
        target=f"{_METRICS}.precision:MaskAveragePrecision",
        options="rpx_seg.classes:ClassOptions",
        tasks=_INSTANCE,
    ),
    MetricSpec(
        name="mask-boundary",
        summary="boundary IoU of assigned segments, boundary F of all outlines",
        target=f"{_METRICS}.boundary:MaskBoundary",
        options=f"{_METRICS}.boundary:BoundaryOptions",
        tasks=_INSTANCE,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-mask",
        summary="a function from RGB to instance ids, brought to the image's size",
        target="rpx_seg.adapters:wrap",
        tasks=_INSTANCE,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="threshold",
        summary="compact blobs of one colour on a table",
        target=f"{_MODELS}.threshold:load",
        options=f"{_MODELS}.threshold:ThresholdOptions",
        tasks=_INSTANCE,
    ),
    ModelSpec(
        name="slic",
        summary="superpixels of similar colour and size (scikit-image)",
        target=f"{_MODELS}.superpixels:load_slic",
        options=f"{_MODELS}.superpixels:SlicOptions",
        tasks=_INSTANCE,
        extra="superpixels",
        modules=("skimage",),
    ),
    ModelSpec(
        name="felzenszwalb",
        summary="regions of similar colour (scikit-image)",
        target=f"{_MODELS}.superpixels:load_felzenszwalb",
        options=f"{_MODELS}.superpixels:FelzenszwalbOptions",
        tasks=_INSTANCE,
        extra="superpixels",
        modules=("skimage",),
    ),
    ModelSpec(
        name="grabcut",
        summary="the object inside each given box (OpenCV)",
        target=f"{_MODELS}.grabcut:load",
        options=f"{_MODELS}.grabcut:GrabCutOptions",
        tasks=_INSTANCE,
        needs=("boxes",),
        extra="grabcut",
        modules=("cv2",),
    ),
)
