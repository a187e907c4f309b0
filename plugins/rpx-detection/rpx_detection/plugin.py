"""What rpx-detection offers to rpx: specs only, nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    TaskSpec,
)
from rpx_detection.tracking.specs import (
    TRACKING_ADAPTERS,
    TRACKING_DATASETS,
    TRACKING_METRICS,
    TRACKING_MODELS,
    TRACKING_PROTOCOLS,
    TRACKING_TASKS,
)

_DETECTION = ("object_detection", "open_vocab_detection")
_GROUNDING = ("visual_grounding",)
_METRICS = "rpx_detection.metrics"
_MODELS = "rpx_detection.models"


@hookimpl
def rpx_tasks() -> Iterable[TaskSpec]:
    """Offer detection of known and of named classes, grounding, and tracking."""
    assets = ("vocabulary", "category_ids", "negative_labels", "not_exhaustive_labels")
    metrics = {"ap": "detection-ap", "f1": "detection-f1", "checks": "detection-checks"}
    return [
        TaskSpec(
            name="object_detection",
            summary="boxes, classes and scores of the objects in one image",
            target="rpx_detection.detection:ObjectDetection",
            options="rpx_detection.detection:ObjectDetectionOptions",
            metrics=metrics,
            primary="ap.ap",
            baseline="blobs",
            requires=("rgb", "boxes"),
            assets=assets,
            adapter="numpy-detection",
        ),
        TaskSpec(
            name="open_vocab_detection",
            summary="boxes and scores of the classes that the query names",
            target="rpx_detection.detection:OpenVocabDetection",
            options="rpx_detection.detection:OpenVocabDetectionOptions",
            metrics=metrics,
            primary="ap.ap",
            baseline="blobs",
            requires=("rgb", "boxes"),
            assets=assets,
            adapter="numpy-detection",
        ),
        TaskSpec(
            name="visual_grounding",
            summary="the box that an expression refers to",
            target="rpx_detection.grounding:VisualGrounding",
            metrics={"grounding": "grounding-accuracy"},
            primary="grounding.acc50",
            baseline="blobs-grounding",
            requires=("rgb",),
            assets=("expressions", "text", "boxes", "labels"),
            adapter="numpy-grounding",
        ),
        *TRACKING_TASKS,
    ]


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer average precision, F1, confusion, checks and grounding accuracy."""
    return [
        MetricSpec(
            name="detection-ap",
            summary="average precision and recall, whatever the order of equal scores",
            target=f"{_METRICS}.average_precision:DetectionAP",
            options=f"{_METRICS}.rules:DetectionAPOptions",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="coco-detection",
            summary="the twelve numbers of the COCO evaluator",
            target=f"{_METRICS}.average_precision:CocoDetection",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="detection-ap-agnostic",
            summary="average precision and recall when labels do not matter",
            target=f"{_METRICS}.average_precision:ClassAgnosticAP",
            options=f"{_METRICS}.rules:DetectionAPOptions",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="detection-per-class",
            summary="average precision and recall of each class that the options list",
            target=f"{_METRICS}.per_class:DetectionPerClass",
            options=f"{_METRICS}.per_class:PerClassOptions",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="detection-f1",
            summary="precision, recall and F1 at a score threshold, and at the best one",
            target=f"{_METRICS}.f1:DetectionF1",
            options=f"{_METRICS}.f1:DetectionF1Options",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="detection-f1-published",
            summary="the per-image precision, recall and F1 of the RPX benchmark",
            target=f"{_METRICS}.published_f1:PublishedDetectionF1",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="detection-confusion",
            summary="right places with wrong names, misses, and boxes where nothing is",
            target=f"{_METRICS}.confusion:DetectionConfusion",
            options=f"{_METRICS}.confusion:DetectionConfusionOptions",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="detection-checks",
            summary="signs of wrong box conventions, reported as warnings",
            target=f"{_METRICS}.checks:DetectionChecks",
            tasks=_DETECTION,
        ),
        MetricSpec(
            name="grounding-accuracy",
            summary="share of expressions whose best box overlaps what they refer to",
            target=f"{_METRICS}.grounding:GroundingAccuracy",
            tasks=_GROUNDING,
        ),
        *TRACKING_METRICS,
    ]


@hookimpl
def rpx_adapters() -> Iterable[AdapterSpec]:
    """Offer adapters for functions of an image, and of an image and an expression."""
    return [
        AdapterSpec(
            name="numpy-detection",
            summary="a function from RGB, and maybe a vocabulary, to boxes, scores and labels",
            target="rpx_detection.adapters:wrap_detector",
            options="rpx_detection.adapters:BoxFormat",
            tasks=_DETECTION,
        ),
        AdapterSpec(
            name="numpy-grounding",
            summary="a function from RGB and an expression to boxes and scores",
            target="rpx_detection.adapters:wrap_grounder",
            options="rpx_detection.adapters:BoxFormat",
            tasks=_GROUNDING,
        ),
        *TRACKING_ADAPTERS,
    ]


@hookimpl
def rpx_models() -> Iterable[ModelSpec]:
    """Offer detectors that need no download."""
    return [
        ModelSpec(
            name="blobs",
            summary="things of one strong colour, named by their outline",
            target=f"{_MODELS}.blobs:load",
            options=f"{_MODELS}.blobs:BlobsOptions",
            tasks=_DETECTION,
        ),
        ModelSpec(
            name="blobs-grounding",
            summary="colour, shape and place words matched with things of one strong colour",
            target=f"{_MODELS}.blobs:load_grounder",
            options=f"{_MODELS}.blobs:BlobsOptions",
            tasks=_GROUNDING,
        ),
        ModelSpec(
            name="hog-people",
            summary="upright people by gradient histograms (OpenCV)",
            target=f"{_MODELS}.hog_people:load",
            options=f"{_MODELS}.hog_people:HogPeopleOptions",
            tasks=_DETECTION,
            extra="opencv",
            modules=("cv2",),
        ),
        *TRACKING_MODELS,
    ]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the folder layouts in which detection data is usually kept."""
    return [
        DatasetSpec(
            name=name,
            summary=summary,
            target=f"rpx_detection.layouts.{name}:open_{name}",
            options=f"rpx_detection.layouts.{name}:{title}Options",
            tasks=_DETECTION,
            layout=True,
        )
        for name, title, summary in (
            ("coco", "Coco", "COCO: annotations/instances_*.json beside its folders of images"),
            ("yolo", "Yolo", "YOLO: images/ and labels/ with a text file per image"),
        )
    ] + list(TRACKING_DATASETS)


@hookimpl
def rpx_protocols() -> Iterable[ProtocolSpec]:
    """Offer the protocols that detectors are compared by."""
    return [
        ProtocolSpec(
            name="coco-1",
            summary="COCO boxes: the twelve numbers of the COCO evaluator",
            target="rpx_detection:protocols/coco-1.toml",
            tasks=("object_detection",),
        ),
        *TRACKING_PROTOCOLS,
    ]
