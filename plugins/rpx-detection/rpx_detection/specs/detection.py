"""What is offered for detection of known and of named classes."""

from __future__ import annotations

from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    TaskSpec,
)

_DETECTION = ("object_detection", "open_vocab_detection")
_METRICS = "rpx_detection.metrics"
_MODELS = "rpx_detection.models"
_ASSETS = ("vocabulary", "category_ids", "negative_labels", "not_exhaustive_labels")
_DEFAULT_METRICS = {"ap": "detection-ap", "f1": "detection-f1", "checks": "detection-checks"}

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="object_detection",
        summary="boxes, classes and scores of the objects in one image",
        target="rpx_detection.detection:ObjectDetection",
        options="rpx_detection.detection:ObjectDetectionOptions",
        metrics=_DEFAULT_METRICS,
        primary="ap.ap",
        baseline="blobs",
        requires=("rgb", "boxes"),
        assets=_ASSETS,
        adapter="numpy-detection",
    ),
    TaskSpec(
        name="open_vocab_detection",
        summary="boxes and scores of the classes that the query names",
        target="rpx_detection.detection:OpenVocabDetection",
        options="rpx_detection.detection:OpenVocabDetectionOptions",
        metrics=_DEFAULT_METRICS,
        primary="ap.ap",
        baseline="blobs",
        requires=("rgb", "boxes"),
        assets=_ASSETS,
        adapter="numpy-detection",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
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
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-detection",
        summary="a function from RGB, and maybe a vocabulary, to boxes, scores and labels",
        target="rpx_detection.adapters:wrap_detector",
        options="rpx_detection.adapters:BoxFormat",
        tasks=_DETECTION,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="blobs",
        summary="things of one strong colour, named by their outline",
        target=f"{_MODELS}.blobs:load",
        options=f"{_MODELS}.blobs:BlobsOptions",
        tasks=_DETECTION,
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
)

DATASETS: tuple[DatasetSpec, ...] = tuple(
    DatasetSpec(
        name=name,
        summary=summary,
        target=f"rpx_detection.layouts.{name}:open_{name}",
        options=f"rpx_detection.layouts.{name}:{name.title()}Options",
        tasks=_DETECTION,
        layout=True,
    )
    for name, summary in (
        ("coco", "COCO: annotations/instances_*.json beside its folders of images"),
        ("yolo", "YOLO: images/ and labels/ with a text file per image"),
    )
)

PROTOCOLS: tuple[ProtocolSpec, ...] = (
    ProtocolSpec(
        name="coco-1",
        summary="COCO boxes: the twelve numbers of the COCO evaluator",
        target="rpx_detection:protocols/coco-1.toml",
        tasks=("object_detection",),
    ),
)
